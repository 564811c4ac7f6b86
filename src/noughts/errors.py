"""Every error that users may catch, in one tree.

NoughtsError                the message is a sentence; `exit_code` is what the command ends with
├── IllegalMove             a token that may not be placed; `reason` says why
│   ├── GameOver
│   ├── NoSuchCell
│   ├── CellTaken
│   └── NotYourTurn
├── CommandRefused          any other command that makes no sense now
│   ├── NotCreated
│   ├── AlreadyCreated
│   ├── AlreadyOver
│   ├── NotOver
│   ├── SeatTaken
│   ├── NothingToTakeBack
│   └── TooLong
├── InvalidName
├── InvalidArgument         not a board, a mark, a command, an event, …; a TypeError too
├── NotationError           text that is not a board, a cell or a list of moves
│   ├── UnreadableBoard
│   ├── ImpossibleBoard     well written, but no game leads there
│   │   ├── WrongCounts
│   │   ├── TwoWinners
│   │   └── MoveAfterEnd
│   ├── UnreadableCell
│   └── UnreadableMoves
├── RecordError             a written event or record that is refused
│   ├── MalformedRecord
│   ├── UnknownEvent
│   └── ImpossibleHistory
├── PolicyError             a bot that cannot play
│   ├── UnknownPolicy       no bot has that name, or takes that parameter
│   └── BadPolicy           it doesn't return a chance for each free cell
├── BotResigned             a bot was asked for a move, and resigned
├── Forfeit                 a program that did anything other than make a legal move
├── CannotStartProgram      the system can't start a process now: not a forfeit
├── NotAMachine             a file that is not a MENACE
├── NotAPolicy              a file that is not a policy
├── BadArray                an array that is not a batch of games, or of actions
├── BadFormat               a file format that is not supported
├── BadSetting              a setting that the lab cannot use
├── NoTournament            bots that cannot meet
├── NotInstalled            a part whose packages are missing
├── FileUnavailable         a file that cannot be read or written
├── StaleVersion            somebody else has recorded something first
├── KeyReused               a key that was used for another command
├── InvalidId               not an id of a game or a command
├── NoSuchGame
├── WebGame                 a game of the server, which nobody plays in a terminal
└── StoreError              games cannot be saved or read
    ├── UnknownStore        a URL that names no store
    ├── StoreMissing        no store is there
    ├── StoreUnavailable    not now: a full disk, a lock, a server that is down
    ├── StoreLost           the file of an open store was moved, replaced or cut short
    ├── NotAStore           something else, or made by another version; left untouched
    └── CorruptStore        what was recorded has changed since
"""

from noughts.bots.errors import (
    BadPolicy as BadPolicy,
    BotResigned as BotResigned,
    CannotStartProgram as CannotStartProgram,
    Forfeit as Forfeit,
    NotAMachine as NotAMachine,
    NotAPolicy as NotAPolicy,
    PolicyError as PolicyError,
    UnknownPolicy as UnknownPolicy,
)
from noughts.core.errors import (
    AlreadyCreated as AlreadyCreated,
    AlreadyOver as AlreadyOver,
    CellTaken as CellTaken,
    CommandRefused as CommandRefused,
    GameOver as GameOver,
    IllegalMove as IllegalMove,
    IllegalMoveReason as IllegalMoveReason,
    ImpossibleBoard as ImpossibleBoard,
    ImpossibleHistory as ImpossibleHistory,
    InvalidArgument as InvalidArgument,
    InvalidName as InvalidName,
    MalformedRecord as MalformedRecord,
    MoveAfterEnd as MoveAfterEnd,
    NoSuchCell as NoSuchCell,
    NotationError as NotationError,
    NotCreated as NotCreated,
    NothingToTakeBack as NothingToTakeBack,
    NotInstalled as NotInstalled,
    NotOver as NotOver,
    NotYourTurn as NotYourTurn,
    NoughtsError as NoughtsError,
    RecordError as RecordError,
    SeatTaken as SeatTaken,
    TooLong as TooLong,
    TwoWinners as TwoWinners,
    UnknownEvent as UnknownEvent,
    UnreadableBoard as UnreadableBoard,
    UnreadableCell as UnreadableCell,
    UnreadableMoves as UnreadableMoves,
    WrongCounts as WrongCounts,
)
from noughts.files import (
    FileUnavailable as FileUnavailable,
)
from noughts.lab.errors import (
    BadArray as BadArray,
    BadFormat as BadFormat,
    BadSetting as BadSetting,
    NoTournament as NoTournament,
)
from noughts.store.errors import (
    CorruptStore as CorruptStore,
    InvalidId as InvalidId,
    KeyReused as KeyReused,
    NoSuchGame as NoSuchGame,
    NotAStore as NotAStore,
    StaleVersion as StaleVersion,
    StoreError as StoreError,
    StoreLost as StoreLost,
    StoreMissing as StoreMissing,
    StoreUnavailable as StoreUnavailable,
    UnknownStore as UnknownStore,
    WebGame as WebGame,
)
