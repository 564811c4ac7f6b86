Feature: 004 The kata
  Positions from 1 to 9 on a board of five by five characters.

  # The rules

  @K1
  Scenario: X always goes first and the players alternate
    When I run "noughts play" and play 123465897
    Then it asks in this order
      | Player X, enter a position from 1 to 9: |
      | Player O, enter a position from 1 to 9: |
      | Player X, enter a position from 1 to 9: |
      | Player O, enter a position from 1 to 9: |
      | Player X, enter a position from 1 to 9: |
      | Player O, enter a position from 1 to 9: |
      | Player X, enter a position from 1 to 9: |
      | Player O, enter a position from 1 to 9: |
      | Player X, enter a position from 1 to 9: |
      | Play again? (y/n)                       |

  @K1
  Scenario Outline: X goes first in every game
    When I run "noughts play" and play <moves> and type "y" "quit"
    Then it asks "Player X, enter a position from 1 to 9:" first after "Play again? (y/n)"

    Examples:
      | moves     | before           |
      | 14253     | X has won        |
      | 142596    | O has won        |
      | 123465897 | nobody has won   |

  @K1
  Scenario: Neither O first nor a player twice in a row
    Given every reachable position
    Then X is to move where both have as many marks, and O where X has one more
    And only the mark to move may be placed

  @K1 @K3
  Scenario Outline: A played position cannot be played again
    When I run "noughts play" and play <moves>
    Then it prints "Position is Invalid!" 1 times
    And the board it shows last is <board>

    Examples:
      | moves | board       | who played it before   |
      | 11    | X__/___/___ | the other              |
      | 121   | XO_/___/___ | the same               |
      | 19281 | XX_/___/_OO | the same, a while back |

  @K1
  Scenario: On no board can a played position be played again
    Given every reachable position
    Then no mark can be placed on another

  # The board

  @K2
  Scenario: The first board shows what to type
    When I run "noughts play"
    Then it first prints
      """
      1|2|3
      -+-+-
      4|5|6
      -+-+-
      7|8|9
      Player X, enter a position from 1 to 9:
      """

  @K2
  Scenario: A played position shows its mark, and a free one its number
    When I run "noughts play" and play 519
    Then it prints
      """
      O|2|3
      -+-+-
      4|X|6
      -+-+-
      7|8|X
      Player O, enter a position from 1 to 9:
      """

  @K2
  Scenario Outline: The nine positions on the grid
    When position <position> is entered on an empty board
    Then the grid shows the position at (<row>,<column>) before, and X after
    And all else on the grid is as it was

    Examples:
      | position | row | column |
      | 1        | 0   | 0      |
      | 2        | 0   | 2      |
      | 3        | 0   | 4      |
      | 4        | 2   | 0      |
      | 5        | 2   | 2      |
      | 6        | 2   | 4      |
      | 7        | 4   | 0      |
      | 8        | 4   | 2      |
      | 9        | 4   | 4      |

  @K2
  Scenario: Every position is drawn on a grid of five by five characters
    Given every reachable position
    Then each is drawn in 5 lines of 5 characters
    And the characters between the positions are always
      """
      ?|?|?
      -+-+-
      ?|?|?
      -+-+-
      ?|?|?
      """
    And a free position shows its number, and a played one its mark

  # What is no position

  @K3
  Scenario Outline: Anything else is invalid, and the same player is asked again
    When I run "noughts play" and type "5" "<typed>" "1"
    Then it prints "Position is Invalid!" 1 times
    And it asks in this order
      | Player X, enter a position from 1 to 9: |
      | Player O, enter a position from 1 to 9: |
      | Player O, enter a position from 1 to 9: |
      | Player X, enter a position from 1 to 9: |
    And the board it shows last is O__/_X_/___

    Examples:
      | typed | what it is       |
      | 0     | too little       |
      | -1    | less still       |
      | 10    | too much         |
      | 55    | two in one       |
      | x     | a letter         |
      | five  | letters          |
      | 5.0   | no whole number  |
      |       | nothing          |
      | 5     | a taken position |

  @K3
  Scenario: It may be invalid many times in a row
    When I run "noughts play" and type "0" "10" "" "x" "5" "5"
    Then it prints "Position is Invalid!" 5 times
    And the board it shows last is ___/_X_/___

  # The end

  @K4
  Scenario Outline: The result of a game is printed
    When I run "noughts play" and play <moves> and type "n"
    Then the final board is <board>, and then it prints "<line>"

    Examples:
      | moves     | board       | line          |
      | 14253     | XXX/OO_/___ | Player X Won! |
      | 12457     | XO_/XO_/X__ | Player X Won! |
      | 142596    | XX_/OOO/__X | Player O Won! |
      | 123465897 | XOX/OOX/XXO | Game is Draw! |

  @K4
  Scenario Outline: First, second and last row and column and both diagonals win
    When I run "noughts show <moves> --wording kata"
    Then it finally prints "<line>"

    Examples:
      | moves  | line          | with                 |
      | 14253  | Player X Won! | the first row        |
      | 41526  | Player X Won! | the second row       |
      | 71829  | Player X Won! | the last row         |
      | 12457  | Player X Won! | the first column     |
      | 21548  | Player X Won! | the second column    |
      | 31649  | Player X Won! | the last column      |
      | 12549  | Player X Won! | the falling diagonal |
      | 31527  | Player X Won! | the rising diagonal  |
      | 415273 | Player O Won! | the first row        |
      | 142576 | Player O Won! | the second row       |
      | 172849 | Player O Won! | the last row         |
      | 213487 | Player O Won! | the first column     |
      | 123598 | Player O Won! | the second column    |
      | 132679 | Player O Won! | the last column      |
      | 213579 | Player O Won! | the falling diagonal |
      | 132547 | Player O Won! | the rising diagonal  |

  @K4
  Scenario: A line that the last free position completes is no draw
    When I run "noughts show 891746253 --wording kata"
    Then it finally prints "Player X Won!"
    And it never prints "Game is Draw!"

  @K4
  Scenario: A player with a name wins under it
    When I run "noughts play --x bob" and play 14253 and type "n"
    Then it prints "bob Won!"
    And it never prints "Player X Won!"
