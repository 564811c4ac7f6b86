Feature: 000 The narrative
  Two bots play at random, in the narrative's words.

  # The board

  @N1
  Scenario Outline: A blank may be written in four ways, and a board flat or nested
    When X_O/_X_/___ is read from a <shape> list with <blank> for a blank
    Then the board is X_O/_X_/___
    And the board is the one that the moves 135 lead to

    Examples:
      | shape  | blank           |
      | flat   | an underscore   |
      | flat   | a dot           |
      | flat   | a space         |
      | flat   | an empty string |
      | nested | an underscore   |
      | nested | a dot           |
      | nested | a space         |
      | nested | an empty string |

  @N1
  Scenario Outline: A board may be written as text
    When the text "<text>" is read as a board
    Then the board is X_O/_X_/___

    Examples:
      | text        |
      | X_O/_X_/___ |
      | X.O/.X./... |
      | X O/ X /___ |
      | X_O_X____   |

  @N1
  Scenario Outline: A cell holds X, O or nothing, and no other sign
    When a board with "<sign>" in the middle is read
    Then it is refused, and the refusal quotes "<sign>"

    Examples:
      | sign |
      | 0    |
      | 1    |
      | Y    |
      | XO   |
      | Х    |

  @N1
  Scenario Outline: A board is three by three and nothing else
    When a board of <rows> rows of <columns> blank cells is read
    Then it is refused because it is not a board

    Examples:
      | rows | columns |
      | 1    | 8       |
      | 1    | 10      |
      | 2    | 3       |
      | 4    | 3       |
      | 3    | 2       |
      | 3    | 4       |

  @N1
  Scenario Outline: The nine cells count 0 to 8, or 0 to 2 by row and by column
    When X is placed on cell <cell> of an empty board
    Then row <row> and column <column> hold X
    And cell <cell> is the only one that is not blank

    Examples:
      | cell | row | column |
      | 0    | 0   | 0      |
      | 1    | 0   | 1      |
      | 2    | 0   | 2      |
      | 3    | 1   | 0      |
      | 4    | 1   | 1      |
      | 5    | 1   | 2      |
      | 6    | 2   | 0      |
      | 7    | 2   | 1      |
      | 8    | 2   | 2      |

  # Who moves

  @N2
  Scenario: X starts
    Given a new board
    Then the board is ___/___/___
    And it is the turn of X
    And O may not be placed on any cell

  @N2
  Scenario: X starts when bots play
    When I run "noughts watch --interval 0 --seed 7"
    Then it first prints "Player X:"

  @N8
  Scenario Outline: Players switch (US7)
    When <player> has moved
    Then the next player is <next>

    Examples:
      | player | next |
      | X      | O    |
      | O      | X    |

  # Bots that look on nothing

  @N3 @N9
  Scenario: A watched game is shown move by move
    When I run "noughts watch --interval 0 --seed narrative"
    Then every board is shown under the name of the player that moved
    And every board has one token more than the one before, and it is that player's
    And the result is shown under the final board
    And it exits with code 0

  @N3 @N9
  Scenario: Many games in a row are shown the same way
    When I run "noughts watch --interval 0 --seed narrative --games 50"
    Then 50 games are shown
    And X starts every game
    And every board is shown under the name of the player that moved
    And every board has one token more than the one before, and it is that player's
    And the result is shown under the final board

  @N3
  Scenario: Bots pause two seconds between moves by default
    Given a clock that takes notes and never waits
    When I run "noughts watch --seed 7"
    Then it rested 2 seconds between every two moves

  @N3
  Scenario Outline: The rest can be chosen
    Given a clock that takes notes and never waits
    When I run "noughts watch --seed 7 --interval <interval>"
    Then it rested <interval> seconds between every two moves

    Examples:
      | interval |
      | 0        |
      | 0.25     |
      | 60       |

  @N3
  Scenario: The help names the rest
    When I run "noughts watch --help"
    Then "--interval SECONDS seconds between moves (default: 2)" is in the help

  @N3
  Scenario Outline: A rest that is no time is refused
    When I run "noughts watch --interval <interval>"
    Then it exits with code 2 and an error that quotes "<interval>"

    Examples:
      | interval |
      | -1       |
      | soon     |
      | nan      |
      | inf      |

  @N3 @N7
  Scenario Outline: A bot chooses evenly, whether it could win, block or neither
    Given the board <board>
    When <mark> makes 6000 random moves, each from that board
    Then every free cell is chosen about equally often

    Examples:
      | board       | mark | what a clever bot would do |
      | ___/___/___ | X    | anything                   |
      | XX_/OO_/___ | X    | win in the row             |
      | XO_/XO_/___ | X    | win in the column          |
      | X_O/OX_/___ | X    | win in the diagonal        |
      | XX_/O__/___ | O    | block the row              |
      | XO_/X__/___ | O    | block the column           |
      | X_O/_X_/___ | O    | block the diagonal         |

  @N3
  Scenario: Bots that leave it to chance win as often as chance has it
    When I run "noughts watch --interval 0 --seed 2026 --games 1000 --first X"
    Then X won about 58.5, O about 28.8 and nobody about 12.7 games of 100

  # The drawing

  @N4
  Scenario: Display an empty board (US1)
    Given the list
      """
      ["","","",
       "","","",
       "","",""]
      """
    Then it is drawn, and "noughts show" draws it, as
      """
       | |
      -+-+-
       | |
      -+-+-
       | |
      """

  @N4 @N5
  Scenario: X won a vertical line (US2)
    Given the list
      """
      [X,_,_,
       X,O,_,
       X,_,O]
      """
    Then it is drawn, and "noughts show" draws it, as
      """
      X| |
      -+-+-
      X|O|
      -+-+-
      X| |O
      """
    And X has won with cells 0, 3, 6

  @N4 @N5
  Scenario: O won a horizontal line (US3)
    Given the list
      """
      [X,_,X,
       O,O,O,
       X,_,_]
      """
    Then it is drawn, and "noughts show" draws it, as
      """
      X| |X
      -+-+-
      O|O|O
      -+-+-
      X| |
      """
    And O has won with cells 3, 4, 5

  @N4 @N5
  Scenario: X won a diagonal line (US4, with a diagonal)
    Given the list
      """
      [X,_,O,
       O,X,_,
       _,_,X]
      """
    Then it is drawn, and "noughts show" draws it, as
      """
      X| |O
      -+-+-
      O|X|
      -+-+-
       | |X
      """
    And X has won with cells 0, 4, 8

  @N4 @N6
  Scenario: Draw game (US5)
    Given the list
      """
      [X,O,X,
       O,O,X,
       X,X,O]
      """
    Then it is drawn, and "noughts show" draws it, as
      """
      X|O|X
      -+-+-
      O|O|X
      -+-+-
      X|X|O
      """
    And the game is a draw

  @N4
  Scenario: Every position is drawn in five lines, unlike any other
    Given every reachable position
    Then each is drawn in five lines, the second and the fourth "-+-+-"
    And no line of a drawing ends with a space
    And no two drawings are the same

  # Who has won

  @N5
  Scenario Outline: Three in a column, a row or a diagonal win
    Given the board <board>
    Then <mark> has won with cells <cells>

    Examples: X
      | mark | cells   | board       |
      | X    | 0, 1, 2 | XXX/OO_/___ |
      | X    | 3, 4, 5 | OO_/XXX/___ |
      | X    | 6, 7, 8 | OO_/___/XXX |
      | X    | 0, 3, 6 | XO_/XO_/X__ |
      | X    | 1, 4, 7 | OX_/OX_/_X_ |
      | X    | 2, 5, 8 | O_X/O_X/__X |
      | X    | 0, 4, 8 | XO_/OX_/__X |
      | X    | 2, 4, 6 | OOX/_X_/X__ |

    Examples: O
      | mark | cells   | board       |
      | O    | 0, 1, 2 | OOO/XX_/X__ |
      | O    | 3, 4, 5 | XX_/OOO/X__ |
      | O    | 6, 7, 8 | XX_/X__/OOO |
      | O    | 0, 3, 6 | OXX/O__/OX_ |
      | O    | 1, 4, 7 | XOX/_O_/_OX |
      | O    | 2, 5, 8 | XXO/__O/X_O |
      | O    | 0, 4, 8 | OXX/_O_/X_O |
      | O    | 2, 4, 6 | XXO/XO_/O__ |

  @N5
  Scenario: Nothing else wins
    Given every reachable position
    Then a mark has won exactly where it holds one of these lines
      | 0 1 2 | 3 4 5 | 6 7 8 |
      | 0 3 6 | 1 4 7 | 2 5 8 |
      | 0 4 8 | 2 4 6 |       |

  @N5
  Scenario Outline: Three marks that are not a line do not win
    Given the board <board>
    Then the game is not over

    Examples:
      | board       |
      | XX_/X_O/_O_ |
      | _XX/X_O/_O_ |
      | XO_/_XO/_X_ |
      | X_X/_O_/XO_ |

  @N6
  Scenario Outline: A full board without a line is a draw
    Given the board <board>
    Then the game is a draw

    Examples:
      | board       |
      | XOX/OOX/XXO |
      | XOX/XOO/OXX |
      | XOX/XXO/OXO |

  @N6
  Scenario: Sixteen full boards are draws, and no board with a free cell is one
    Given every reachable position
    Then 16 of them are draws, and all of these are full and have no line

  @N6
  Scenario Outline: A line that the ninth move completes wins
    Given the board <board>
    When X is placed on cell <cell>
    Then the board is full
    And X has won with cells <line>

    Examples:
      | board       | cell | line          |
      | XX_/XOO/OXO | 2    | 0, 1, 2       |
      | XOO/XOX/_XO | 6    | 0, 3, 6       |
      | XOX/OXO/OX_ | 8    | 0, 4, 8       |
      | XOX/OXO/_XO | 6    | 2, 4, 6       |
      | XOX/O_O/XOX | 4    | 0, 2, 4, 6, 8 |

  # The next move

  @N7
  Scenario Outline: The next move is a new board with one token more (US6)
    Given the board <board>
    When <mark> makes 200 random moves, each from that board
    Then every one of them adds a single <mark> to a free cell
    And the board given is still <board>

    Examples:
      | board       | mark |
      | ___/___/___ | X    |
      | X__/___/___ | O    |
      | XO_/_X_/___ | O    |
      | XOX/OOX/_XO | X    |

  @N7
  Scenario: A board cannot be changed
    Given the board X_O/_X_/___
    Then whatever it shows of itself cannot be set

  @N7
  Scenario Outline: A finished board is refused
    Given the board <board>
    Then no random move is made from it for X or O

    Examples:
      | board       |
      | XXX/OO_/___ |
      | X_X/OOO/X__ |
      | XOX/OOX/XXO |

  @N7
  Scenario: A board and a mark are all that a next move needs (US6)
    Given the document's list "X,_,_,_,O,_,_,_,_"
    When X makes a move from it, and no source of randomness is given
    Then the new board has one more X, and the list is as it was

  # The result

  @N9
  Scenario Outline: The result has one line for each end (US7)
    Then the narrative gives the result of "<winner>" as "<line>"

    Examples:
      | winner | line                       |
      | X      | PLAYER X WON!              |
      | O      | PLAYER O WON!              |
      |        | THE GAME ENDS WITH A DRAW! |

  @N9
  Scenario Outline: Only a mark or nothing has a result
    Then the narrative refuses the result of "<winner>"

    Examples:
      | winner |
      | bogus  |
      | x      |
      | 0      |

  @N9
  Scenario: The win of X is printed after the final board
    When I run "noughts show 14253"
    Then it finally prints
      """
      Player X:
      X|X|X
      -+-+-
      O|O|
      -+-+-
       | |
      PLAYER X WON!
      """

  @N9
  Scenario: The win of O is printed after the final board
    When I run "noughts show 142596"
    Then it finally prints
      """
      Player O:
      X|X|
      -+-+-
      O|O|O
      -+-+-
       | |X
      PLAYER O WON!
      """

  @N9
  Scenario: A draw is printed after the final board
    When I run "noughts show 123465897"
    Then it finally prints
      """
      Player X:
      X|O|X
      -+-+-
      O|O|X
      -+-+-
      X|X|O
      THE GAME ENDS WITH A DRAW!
      """

  @N10
  Scenario Outline: Whether the game is over, and who won (US8)
    Given the board <board>
    Then asked whether the game is over, the library answers <answer>

    Examples:
      | board       | answer      |
      | X_X/OOO/X__ | (True, "O") |
      | X__/XO_/X_O | (True, "X") |
      | X_O/OX_/__X | (True, "X") |
      | XOX/OXO/OXX | (True, "X") |
      | XOX/OOX/XXO | (True, "")  |
      | XX_/XOO/OXO | (False, "") |
      | ___/___/___ | (False, "") |

  @N10
  Scenario Outline: A board in any form may be asked about (US8)
    Given the document's list "X,_,X,O,O,O,X,_,_"
    Then asked about it as <form>, the library answers (True, "O")

    Examples:
      | form          |
      | a flat list   |
      | a nested list |
      | text          |
      | a board       |

  @N9 @N10
  Scenario Outline: What US8 answers is what US7 takes
    Given the board <board>
    Then its answer to whether the game is over leads to "<line>"

    Examples:
      | board       | line                       |
      | X_X/OOO/X__ | PLAYER O WON!              |
      | X__/XO_/X_O | PLAYER X WON!              |
      | XOX/OOX/XXO | THE GAME ENDS WITH A DRAW! |
