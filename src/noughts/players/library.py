"""The public names of the players. Import them from `noughts` itself."""

from noughts.players.bot import Bot
from noughts.players.certificate import Certificate, certify
from noughts.players.coach import Advice, Review, advise, judge, review
from noughts.players.external import Program
from noughts.players.menace import BeadRules, Menace
from noughts.players.menace_file import load_machine, save_machine
from noughts.players.odds import Odds, odds
from noughts.players.plain import plain_advice, plain_review
from noughts.players.policies import Policy, find_policy, policy_names
from noughts.players.policy_file import load_policy, save_policy
from noughts.players.reasons import Kind, Reason
from noughts.players.sentences import say_advice, say_prospect, say_reason
from noughts.players.solver import Prospect, Result, prospect, prospects
from noughts.players.training import Training

__all__ = [
    "Advice",
    "BeadRules",
    "Bot",
    "Certificate",
    "Kind",
    "Menace",
    "Odds",
    "Policy",
    "Program",
    "Prospect",
    "Reason",
    "Result",
    "Review",
    "Training",
    "advise",
    "certify",
    "find_policy",
    "judge",
    "load_machine",
    "load_policy",
    "odds",
    "plain_advice",
    "plain_review",
    "policy_names",
    "prospect",
    "prospects",
    "review",
    "save_machine",
    "save_policy",
    "say_advice",
    "say_prospect",
    "say_reason",
]
