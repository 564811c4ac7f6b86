Feature: 001 The events
  A game is the sequence of its events. The first part runs the document's own lines as they stand:
  where one mark would move twice in a row, a harmless move of the other comes between, and the last
  move of the vertical win is (2,0).

  # Game

  @E2 @E7
  Scenario: Player X start the match when game is created
    Given [ ]
    When  [ gameCreated ]
    Then  [ playerActive(player X) ]

  @E3 @E7
  Scenario: Switch active player when token of X has been placed
    Given [ ]
    When  [ playerPlacedToken(player X) ]
    Then  [ playerActive(player O) ]

  @E3 @E7
  Scenario: Switch active player when token of O has been placed
    Given [ ]
    When  [ playerPlacedToken(player O) ]
    Then  [ playerActive(player X) ]

  @E4 @E5 @E7
  Scenario: Game completed
    Given [ ]
    When  [ gameWon() || gameLost() || gameDraw() ]
    Then  [ gameCompleted(true) ]

  # Winning scenarios

  @E4 @E7
  Scenario: Horizontal win
    Given [ playerPlacedToken(0,0,X), playerPlacedToken(0,1,X) ]
    When  [ playerPlacedToken(0,2,X) ]
    Then  [ gameWon(player X) ]

  @E4 @E7
  Scenario: Vertical win
    Given [ playerPlacedToken(0,0,X), playerPlacedToken(1,0,X) ]
    When  [ playerPlacedToken(2,0,X) ]
    Then  [ gameWon(player X) ]

  @E4 @E7
  Scenario: Diagonal win
    Given [ playerPlacedToken(0,0,X), playerPlacedToken(1,1,X) ]
    When  [ playerPlacedToken(2,2,X) ]
    Then  [ gameWon(player X) ]

  @E7
  Scenario: The document's own last move of the vertical win does not win
    Given [ playerPlacedToken(0,0,X), playerPlacedToken(1,0,X) ]
    When  [ playerPlacedToken(0,2,X) ]
    Then  [ playerActive(player O) ]

  # Draw scenarios

  @E5 @E7
  Scenario: Nine tokens lie and no win has completed the game
    Given [ gamePlacedCount(9) ]
    When  [ gameCompleted(false) ]
    Then  [ gameDraw() ]

  # Illegal scenarios

  @E6 @E7
  Scenario: Token already placed by the other player
    Given [ playerPlacedToken(0,0,X) ]
    When  [ playerPlacedToken(0,0,O) ]
    Then  [ playerNotifyIllegalMove() ]

  @E6 @E7
  Scenario: Token already placed by the same player
    Given [ playerPlacedToken(2,2,X) ]
    When  [ playerPlacedToken(2,2,X) ]
    Then  [ playerNotifyIllegalMove() ]

  # The language

  @E1
  Scenario: A won game, written down
    Given the game 14253
    Then its record names these events
      """
      gameCreated(X)
      gameReady()
      playerActive(X)
      playerPlacedToken(0,0,X)
      gamePlacedCount(1)
      playerActive(O)
      playerPlacedToken(1,0,O)
      gamePlacedCount(2)
      playerActive(X)
      playerPlacedToken(0,1,X)
      gamePlacedCount(3)
      playerActive(O)
      playerPlacedToken(1,1,O)
      gamePlacedCount(4)
      playerActive(X)
      playerPlacedToken(0,2,X)
      gamePlacedCount(5)
      gameWon(X)
      gameLost(O)
      gameCompleted(true)
      """

  @E1
  Scenario: The language has these ten names
    When every move is tried in every position, the illegal ones too
    Then these events occur and no others
      | gameCreated             |
      | gameReady               |
      | gameWon                 |
      | gameLost                |
      | gameDraw                |
      | gameCompleted           |
      | gamePlacedCount         |
      | playerActive            |
      | playerPlacedToken       |
      | playerNotifyIllegalMove |

  @E1
  Scenario Outline: State is what the events add up to, and nothing else
    Given the game <moves>
    When its record is written down, read back and added up
    Then the game is the same, and answers every next move alike
    And it does not matter where the adding up was broken off and resumed

    Examples:
      | moves     | state |
      | -         | new           |
      | 5         | O to move     |
      | 1425      | X to move     |
      | 14253     | X won         |
      | 142596    | O won         |
      | 123465897 | drawn         |

  @E1
  Scenario Outline: Events that no game can have produced are refused
    Given the game 1425
    When event <number> of its record is left out
    Then the record is refused

    Examples:
      | number | event             |
      | 1      | gameCreated       |
      | 3      | playerActive      |
      | 4      | playerPlacedToken |
      | 5      | gamePlacedCount   |
      | 15     | playerActive      |

  # Who starts

  @E2
  Scenario Outline: A created game is ready at once on one screen, and the chosen mark starts
    When a game is created for <first> to start
    Then the events are
      """
      gameCreated(<first>)
      gameReady()
      playerActive(<first>)
      """
    And the active player is <first>

    Examples:
      | first |
      | X     |
      | O     |

  @E2
  Scenario Outline: With open seats a game is ready when both are taken
    When a game is created with open seats
    Then the events are
      """
      gameCreated(X)
      playerActive(X)
      """
    When bob joins as <one>
    Then the events are
      """
      playerJoined(<one>,bob)
      """
    And the game is not ready
    When frank joins as <other>
    Then the events are
      """
      playerJoined(<other>,frank)
      gameReady()
      """
    And the game is ready

    Examples:
      | one | other |
      | X   | O     |
      | O   | X     |

  @E2
  Scenario Outline: A game on one screen is ready as soon as the names are known
    When I run "noughts play <seats>" and play 5 and the game is saved
    Then its record begins with <beginning>

    Examples:
      | seats                  | beginning                                                                                    |
      |                        | gameCreated(X) gameReady() playerActive(X)                                                   |
      | --x ann                | gameCreated(X) playerActive(X) playerJoined(X,ann) gameReady()                               |
      | --o bot:perfect        | gameCreated(X) playerActive(X) playerJoined(O,bot:perfect) gameReady()                       |
      | --x ann --o bob        | gameCreated(X) playerActive(X) playerJoined(X,ann) playerJoined(O,bob) gameReady()           |
      | --x ann --o bot:random | gameCreated(X) playerActive(X) playerJoined(X,ann) playerJoined(O,bot:random) gameReady()    |

  # Tokens

  @E3
  Scenario Outline: A token leads to the count and to the other player's turn
    Given the game <moves>
    When <mark> places a token on (<row>,<column>)
    Then the events are
      """
      playerPlacedToken(<row>,<column>,<mark>)
      gamePlacedCount(<count>)
      playerActive(<other>)
      """
    And the active player is <other>

    Examples:
      | moves   | mark | row | column | count | other |
      | -       | X    | 0   | 0      | 1     | O     |
      | 1       | O    | 0   | 1      | 2     | X     |
      | 12      | X    | 0   | 2      | 3     | O     |
      | 123     | O    | 1   | 0      | 4     | X     |
      | 1234    | X    | 1   | 2      | 5     | O     |
      | 12346   | O    | 1   | 1      | 6     | X     |
      | 123465  | X    | 2   | 1      | 7     | O     |
      | 1234658 | O    | 2   | 2      | 8     | X     |

  @E3
  Scenario: No playerActive follows the end
    When every move is tried in every position, the illegal ones too
    Then gameCompleted(true) is always the last event of its answer
    And playerActive never comes together with it
    And playerActive always names the player that did not move

  # The end

  @E4
  Scenario Outline: Every line wins, for either mark
    Given the game <moves>
    When <mark> places a token on (<row>,<column>)
    Then the events are
      """
      playerPlacedToken(<row>,<column>,<mark>)
      gamePlacedCount(<count>)
      gameWon(<mark>)
      gameLost(<other>)
      gameCompleted(true)
      """
    And nobody is active

    Examples: X
      | line                 | moves | mark | row | column | count | other |
      | the top row          | 1425  | X    | 0   | 2      | 5     | O     |
      | the middle row       | 4152  | X    | 1   | 2      | 5     | O     |
      | the bottom row       | 7182  | X    | 2   | 2      | 5     | O     |
      | the left column      | 1245  | X    | 2   | 0      | 5     | O     |
      | the middle column    | 2154  | X    | 2   | 1      | 5     | O     |
      | the right column     | 3164  | X    | 2   | 2      | 5     | O     |
      | the falling diagonal | 1254  | X    | 2   | 2      | 5     | O     |
      | the rising diagonal  | 3152  | X    | 2   | 0      | 5     | O     |

    Examples: O
      | line                 | moves | mark | row | column | count | other |
      | the top row          | 41527 | O    | 0   | 2      | 6     | X     |
      | the middle row       | 14257 | O    | 1   | 2      | 6     | X     |
      | the bottom row       | 17284 | O    | 2   | 2      | 6     | X     |
      | the left column      | 21348 | O    | 2   | 0      | 6     | X     |
      | the middle column    | 12359 | O    | 2   | 1      | 6     | X     |
      | the right column     | 13267 | O    | 2   | 2      | 6     | X     |
      | the falling diagonal | 21357 | O    | 2   | 2      | 6     | X     |
      | the rising diagonal  | 13254 | O    | 2   | 0      | 6     | X     |

  @E5
  Scenario Outline: Nine tokens without a line are a draw
    Given the game <moves>
    When X places a token on (<row>,<column>)
    Then the events are
      """
      playerPlacedToken(<row>,<column>,X)
      gamePlacedCount(9)
      gameDraw()
      gameCompleted(true)
      """
    And nobody is active

    Examples:
      | moves    | row | column |
      | 12346589 | 2   | 0      |
      | 51937468 | 0   | 1      |

  @E5
  Scenario: The game goes on to the ninth token, even if nobody can win any more
    Given the game 1234658
    When O places a token on (2,2)
    Then every line has both marks in it
    And the events are
      """
      playerPlacedToken(2,2,O)
      gamePlacedCount(8)
      playerActive(X)
      """
    And the active player is X

  @E4 @E5
  Scenario: A line that the ninth token completes is a win and no draw
    Given the game 89174625
    When X places a token on (0,2)
    Then the events are
      """
      playerPlacedToken(0,2,X)
      gamePlacedCount(9)
      gameWon(X)
      gameLost(O)
      gameCompleted(true)
      """

  # Illegal moves

  @E6
  Scenario Outline: The first reason that applies is given, and nothing changes
    Given the game <moves>
    When <mark> tries to place a token on cell <cell>
    Then the events are
      """
      playerNotifyIllegalMove(<mark>,<reason>)
      """
    And the turn, the board and the record are as they were

    Examples: one thing is wrong
      | moves  | mark | cell | reason      |
      | 14253  | O    | 8    | gameOver    |
      | 142596 | X    | 8    | gameOver    |
      | 1425   | X    | 9    | noSuchCell  |
      | 1425   | X    | -1   | noSuchCell  |
      | -      | O    | 0    | notYourTurn |
      | 1      | X    | 8    | notYourTurn |
      | 1      | O    | 0    | cellTaken   |
      | 19     | X    | 0    | cellTaken   |
      | 19     | X    | 8    | cellTaken   |

    Examples: several things are wrong
      | moves     | mark | cell | reason      |
      | 14253     | X    | 99   | gameOver    |
      | 14253     | X    | 0    | gameOver    |
      | 123465897 | X    | 0    | gameOver    |
      | 1         | X    | 9    | noSuchCell  |
      | 1         | X    | 0    | cellTaken   |
      | 19        | O    | 0    | cellTaken   |

  @E6
  Scenario: A refusal is no part of a game's record
    Given the game 1425
    When X tries to place a token on cell 0
    Then it is left out of what is written, and a record with it in cannot be read

  @E1 @E6
  Scenario: A game prints its events live, and an illegal move is not in its record
    When I run "noughts play --events" and play 5519
    Then these events are among the lines it prints
      """
      gameCreated(X)
      gameReady()
      playerActive(X)
      playerPlacedToken(1,1,X)
      gamePlacedCount(1)
      playerActive(O)
      playerNotifyIllegalMove(O,cellTaken)
      playerPlacedToken(0,0,O)
      gamePlacedCount(2)
      playerActive(X)
      playerPlacedToken(2,2,X)
      gamePlacedCount(3)
      playerActive(O)
      """
    And "noughts events" prints the same of the saved game, without the illegal move

  @E6
  Scenario: After an illegal move the same player is asked again
    When I run "noughts play" and play 5519
    Then it asks in this order
      | Player X, enter a position from 1 to 9: |
      | Player O, enter a position from 1 to 9: |
      | Player O, enter a position from 1 to 9: |
      | Player X, enter a position from 1 to 9: |
      | Player O, enter a position from 1 to 9: |

  # What the documents leave out

  @E1
  Scenario Outline: Resigning ends the game in the same language
    Given the game <moves>
    When <mark> resigns
    Then the events are
      """
      playerResigned(<mark>)
      gameWon(<other>)
      gameLost(<mark>)
      gameCompleted(true)
      """
    And nobody is active

    Examples:
      | moves | mark | other |
      | -     | X    | O     |
      | 5     | X    | O     |
      | 5     | O    | X     |

  @E1
  Scenario Outline: Taking back removes the player's last token, and the answer to it
    Given the game <moves>
    When <mark> takes back
    Then the events are
      """
      playerTookBack(<mark>)
      gamePlacedCount(<count>)
      playerActive(<mark>)
      """
    And the active player is <mark>
    And the game is as after <left>

    Examples:
      | moves | mark | count | left |
      | 5     | X    | 0     | -    |
      | 51    | X    | 0     | -    |
      | 51    | O    | 1     | 5    |
      | 519   | O    | 1     | 5    |
      | 519   | X    | 2     | 51   |
