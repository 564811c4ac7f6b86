Feature: 003 The package
  A library that others build on, and a game on the command line for bob and frank.

  # Cell, player, board and game

  @G1
  Scenario Outline: The document's nouns are public types
    Then "<name>" is a public name of the library

    Examples:
      | name   |
      | Cell   |
      | Player |
      | Board  |
      | Game   |

  @G1
  Scenario: Every public name can be imported, and is typed
    Then every public name can be imported from the library
    And the library is marked as typed

  @G1
  Scenario: A player has a name and a mark
    When a player is made with the name "Someone" and the mark X
    Then the player's name is "Someone" and their mark is X

  @G1
  Scenario Outline: A player without a name or a mark is an error that says which is missing
    When a player is made without <missing>
    Then the error says that <missing> is missing, and names nothing else

    Examples:
      | missing       |
      | name          |
      | mark          |
      | name and mark |

  @G1
  Scenario: A new game has an empty board and somebody to move
    When a game is created for O to start
    Then its board is ___/___/___ and O is to move

  # A board from a grid

  @G3
  Scenario: A board can be made from a grid, and asked for a cell by x and y
    Given the grid
      """
      [["", "", ""], ["", "", "X"], ["", "", ""]]
      """
    Then the cell at x 2 and y 1 holds X
    And the cell at x 1 and y 2 is blank

  @G3
  Scenario Outline: x is the column and y is the row, from the top left
    Given the grid
      """
      [["X", "O", "X"], ["O", "O", "X"], ["", "X", ""]]
      """
    Then the cell at x <x> and y <y> <holds>

    Examples:
      | x | y | holds    |
      | 0 | 0 | holds X  |
      | 1 | 0 | holds O  |
      | 2 | 0 | holds X  |
      | 0 | 1 | holds O  |
      | 1 | 1 | holds O  |
      | 2 | 1 | holds X  |
      | 0 | 2 | is blank |
      | 1 | 2 | holds X  |
      | 2 | 2 | is blank |

  @G3
  Scenario Outline: There is no cell outside the grid
    Given the board X_O/_X_/___
    Then there is no cell at x <x> and y <y>

    Examples:
      | x  | y  |
      | 3  | 0  |
      | 0  | 3  |
      | -1 | 0  |
      | 0  | -1 |

  @G3
  Scenario Outline: The state of the game is read from a board
    Given the board <board> that <first> started
    Then the state of the game is "<standing>"

    Examples: The document's boards, with O where it has Y
      | board       | first | standing                      |
      | XXX/OXO/OO_ | O     | winner: X won with 1, 2 and 3 |
      | XX_/OXO/OX_ | X     | winner: X won with 2, 5 and 8 |
      | X__/OXO/OXX | X     | winner: X won with 1, 5 and 9 |
      | XOX/OXO/OXO | O     | draw: the game is drawn       |
      | X__/O__/O__ | O     | not over: X to move           |

    Examples: The others
      | board       | first | standing                      |
      | X_X/OOO/X__ | X     | winner: O won with 4, 5 and 6 |
      | ___/___/___ | X     | not over: X to move           |
      | X__/___/___ | X     | not over: O to move           |

  # Two people on the command line

  @G2 @G4 @G5
  Scenario: Bob and frank play a whole game
    When I run "noughts play --wording gem --x bob --o frank --first X" and play 14253 and type "n"
    Then it prints
      """
      _ _ _
      _ _ _
      _ _ _

      bob: Enter a number between 1 and 9 to make your move
      X _ _
      _ _ _
      _ _ _

      frank: Enter a number between 1 and 9 to make your move
      X _ _
      O _ _
      _ _ _

      bob: Enter a number between 1 and 9 to make your move
      X X _
      O _ _
      _ _ _

      frank: Enter a number between 1 and 9 to make your move
      X X _
      O O _
      _ _ _

      bob: Enter a number between 1 and 9 to make your move
      bob won!
      X X X
      O O _
      _ _ _
      """
    And it exits with code 0

  @G2
  Scenario Outline: The starter can be chosen, and the mark stays with the player
    When I run "noughts play --wording gem --x bob --o frank <option>" and play 5
    Then the first question is "<starter>: Enter a number between 1 and 9 to make your move"
    And it prints
      """
      _ _ _
      _ <mark> _
      _ _ _

      <other>: Enter a number between 1 and 9 to make your move
      """

    Examples:
      | option        | starter | mark | other |
      | --first X     | bob     | X    | frank |
      | --first O     | frank   | O    | bob   |
      | --first loser | bob     | X    | frank |

  @G2
  Scenario Outline: The starter is picked at random
    When I run "noughts play --wording gem --x bob --o frank <option>" and play 5
    Then it first prints that bob or frank has randomly been selected as the first player
    And the selected player is asked first, and places their own mark

    Examples:
      | option         |
      |                |
      | --first random |

  @G2
  Scenario Outline: Both are picked in some games, and move first in them
    When I run "noughts watch --wording <wording> --x bob --o frank --games 40 --interval 0 --seed 7 <option>"
    Then bob has randomly been selected as the first player in some games, and frank in the others
    And the selected player moves first, and places their own mark

    Examples:
      | wording   | option         |
      | gem       |                |
      | gem       | --first random |
      | narrative | --first random |
      | kata      | --first random |

  @G2
  Scenario: The starter is picked again for every game
    When I run "noughts play --wording gem --x bob --o frank" and the starter wins 40 games
    Then bob has randomly been selected as the first player in some games, and frank in the others
    And the selected player is asked first in each of them

  @G2
  Scenario Outline: A chosen starter starts every game
    When I run "noughts play --wording <wording> --x bob --o frank --first <first>" and the starter wins 3 games
    Then these players are asked first: <players>

    Examples:
      | wording   | first | players             |
      | gem       | X     | bob, bob, bob       |
      | gem       | O     | frank, frank, frank |
      | kata      | O     | frank, frank, frank |
      | narrative | X     | bob, bob, bob       |
      | gem       | loser | bob, frank, bob     |
      | kata      | loser | bob, frank, bob     |

  @G2
  Scenario Outline: Each wording has its own rule for who starts the next game
    When I run "noughts play --wording <wording> --x bob --o frank" and play <moves> and type "y" "quit"
    Then these players are asked first: <players>

    Examples:
      | wording   | moves     | players    |
      | narrative | 14253     | bob, bob   |
      | narrative | 142596    | bob, bob   |
      | narrative | 123465897 | bob, bob   |
      | kata      | 14253     | bob, bob   |
      | kata      | 142596    | bob, bob   |
      | kata      | 123465897 | bob, bob   |

  @G4
  Scenario Outline: The numbers 1 to 9 are the cells row by row
    When I run "noughts play --wording gem --x bob --o frank --first X" and play <number>
    Then it prints
      """
      bob: Enter a number between 1 and 9 to make your move
      <top>
      <middle>
      <bottom>

      frank: Enter a number between 1 and 9 to make your move
      """

    Examples:
      | number | top   | middle | bottom |
      | 1      | X _ _ | _ _ _  | _ _ _  |
      | 2      | _ X _ | _ _ _  | _ _ _  |
      | 3      | _ _ X | _ _ _  | _ _ _  |
      | 4      | _ _ _ | X _ _  | _ _ _  |
      | 5      | _ _ _ | _ X _  | _ _ _  |
      | 6      | _ _ _ | _ _ X  | _ _ _  |
      | 7      | _ _ _ | _ _ _  | X _ _  |
      | 8      | _ _ _ | _ _ _  | _ X _  |
      | 9      | _ _ _ | _ _ _  | _ _ X  |

  @G4
  Scenario Outline: A number is a pair of coordinates
    Then the number <number> is the cell at x <x> and y <y>

    Examples:
      | number | x | y |
      | 1      | 0 | 0 |
      | 2      | 1 | 0 |
      | 3      | 2 | 0 |
      | 4      | 0 | 1 |
      | 5      | 1 | 1 |
      | 6      | 2 | 1 |
      | 7      | 0 | 2 |
      | 8      | 1 | 2 |
      | 9      | 2 | 2 |

  @G5
  Scenario: The winner is named, and then the final board is shown
    When I run "noughts play --wording gem --x bob --o frank --first X" and play 142596 and type "n"
    Then it prints
      """
      frank: Enter a number between 1 and 9 to make your move
      frank won!
      X X _
      O O O
      _ _ X
      """

  @G5
  Scenario: A tie is announced, and then the final board is shown
    When I run "noughts play --wording gem --x bob --o frank --first X" and play 123465897 and type "n"
    Then it prints
      """
      bob: Enter a number between 1 and 9 to make your move
      The game ended in a tie
      X O X
      O O X
      X X O
      """

  @G5 @K4 @N9
  Scenario Outline: Each wording keeps its own order of result and final board
    When I run "noughts show 14253 --wording <wording>"
    Then it finally prints the result "<result>" <where> the final board

    Examples:
      | wording   | result        | where  |
      | narrative | PLAYER X WON! | after  |
      | gem       | Player X won! | before |
      | kata      | Player X Won! | after  |

  @G5
  Scenario: A board is shown as rows
    Given the board X_O/_X_/___
    Then the gem shows it as
      """
      X _ O
      _ X _
      _ _ _
      """

  # The example

  @G6 @G2 @G4
  Scenario: The example welcomes bob and frank and lets one of them win
    When I run the example and play 14253
    Then it first prints "Welcome to tic tac toe"
    And it then prints that bob or frank has randomly been selected as the first player
    And the selected player is asked first, and places their own mark
    And it finally prints that the selected player won with the top row
    And it exits with code 0

  # What the document confesses to lack

  @G7
  Scenario Outline: What is no move is refused, the player is asked again, and nothing is overwritten
    When I run "noughts play --wording gem --x bob --o frank --first X" and type "5" "<typed>" "1"
    Then it prints "That is not a move you can make."
    And it asks in this order
      | bob: Enter a number between 1 and 9 to make your move   |
      | frank: Enter a number between 1 and 9 to make your move |
      | frank: Enter a number between 1 and 9 to make your move |
      | bob: Enter a number between 1 and 9 to make your move   |
    And the boards it showed are ___/___/___ ___/_X_/___ O__/_X_/___

    Examples: no number
      | typed |
      | five  |
      | X     |
      |       |
      | 1.5   |
      | 1 2   |
      | ٣     |
      | ²     |

    Examples: out of range
      | typed |
      | 0     |
      | 10    |
      | -1    |
      | 99999 |

    Examples: a taken cell
      | typed |
      | 5     |

  @G7
  Scenario Outline: The end of input leaves cleanly, wherever it comes
    When I run "noughts play --wording gem --x bob --o frank --first X" and type <lines>
    Then it finally prints "Goodbye!"
    And it exits with code 0

    Examples:
      | lines               | when                         |
      | nothing             | at once                      |
      | "5"                 | in the game                  |
      | "5" "5"             | after a refusal              |
      | "1" "4" "2" "5" "3" | when asked to play once more |

  @G7
  Scenario Outline: Ctrl-C leaves cleanly
    When I press Ctrl-C in "<command>" once it has said "<line>"
    Then it finally prints "Goodbye!"
    And it exits with code 130

    Examples:
      | command                                      | line                                                  |
      | noughts play --wording gem --x bob --o frank --first X | bob: Enter a number between 1 and 9 to make your move |
      | noughts play                                 | Player X, enter a position from 1 to 9:               |
      | noughts watch --interval 5                   | Player X:                                             |
