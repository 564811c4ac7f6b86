Feature: 002 The algorithm
  Mark a free cell, look for a winner, look for a full board, pass the turn.

  @A1
  Scenario: The nine turns of a tie, cells left and all
    When the game 123465897 is played turn by turn
    Then the turns go like this
      | turn | player | cells left | then            |
      | 1    | X      | 8          | playerActive(O) |
      | 2    | O      | 7          | playerActive(X) |
      | 3    | X      | 6          | playerActive(O) |
      | 4    | O      | 5          | playerActive(X) |
      | 5    | X      | 4          | playerActive(O) |
      | 6    | O      | 3          | playerActive(X) |
      | 7    | X      | 2          | playerActive(O) |
      | 8    | O      | 1          | playerActive(X) |
      | 9    | X      | 0          | gameDraw()      |

  @A1
  Scenario: A winner is declared as soon as there is one
    When the game 14253 is played turn by turn
    Then the turns go like this
      | turn | player | cells left | then            |
      | 1    | X      | 8          | playerActive(O) |
      | 2    | O      | 7          | playerActive(X) |
      | 3    | X      | 6          | playerActive(O) |
      | 4    | O      | 5          | playerActive(X) |
      | 5    | X      | 4          | gameWon(X)      |

  @A1
  Scenario: The winner is checked before the full board
    When the game 891746253 is played turn by turn
    Then the last turn leads to "gameWon(X)" and never "gameDraw()"

  @A1
  Scenario: A game ends in the second or the third step only
    When every move is tried in every position that is not over
    Then a free cell is marked first, and its mark is counted
    And then there is a winner where the mark completed a line
    And else there is a tie where no cell is left
    And else the turn passes to the other player, and the game is still on

  @A1
  Scenario: Only a free cell can be marked
    When every move is tried in every position that is not over
    Then every cell that holds a mark is refused

  @A2
  Scenario: There is no winner before the fifth mark
    Given every reachable position
    Then nobody has won with fewer than 5 marks on the board
    And somebody has won with 5, 6, 7, 8 and 9 marks on the board

  @A2
  Scenario: A game of fewer than five marks is never over
    Given every reachable position
    Then no game with fewer than 5 marks is over, says the library

  @A3
  Scenario Outline: When a game ends the players are asked whether to play again
    When I run "noughts play --wording <wording> --first X" and play <moves> and type "n"
    Then it prints "<result>"
    And it asks "Play again? (y/n)" after "<result>"
    And it finally prints "Goodbye!"
    And it exits with code 0

    Examples:
      | wording   | moves     | result                     |
      | kata      | 14253     | Player X Won!              |
      | kata      | 142596    | Player O Won!              |
      | kata      | 123465897 | Game is Draw!              |
      | gem       | 14253     | Player X won!              |
      | narrative | 123465897 | THE GAME ENDS WITH A DRAW! |

  @A3
  Scenario: Who says yes gets a new board
    When I run "noughts play" and play 14253 and type "y" "9" "quit"
    Then it asks "Play again? (y/n)" 1 times
    And the empty board is shown again after "Play again? (y/n)"
    And it finally prints "Goodbye!"

  @A3
  Scenario: Who says something else is asked once more
    When I run "noughts play" and play 14253 and type "maybe" "" "5" "no"
    Then it asks "Play again? (y/n)" 4 times
    And it exits with code 0

  @A3
  Scenario: Nobody is asked while the game is on
    When I run "noughts play" and play 1425
    Then it never prints "Play again? (y/n)"

  @A4
  Scenario: All possibilities are tested
    When all games there are have been played to their end
    Then they end like this
      | tokens | X won  | O won | drawn |
      | 5      | 1440   | 0     | 0     |
      | 6      | 0      | 5328  | 0     |
      | 7      | 47952  | 0     | 0     |
      | 8      | 0      | 72576 | 0     |
      | 9      | 81792  | 0     | 46080 |
      | all    | 131184 | 77904 | 46080 |
    And there are 255168 of them
