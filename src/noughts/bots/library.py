"""The public names of the players. Import them from `noughts` itself."""

from noughts.analysis.as_json import plain_advice, plain_review
from noughts.analysis.coach import Advice, Review, advise, judge, review
from noughts.analysis.reasons import Kind, Reason
from noughts.analysis.solver import Prospect, Result, prospect, prospects
from noughts.bots.bot import Bot
from noughts.bots.certificate import Certificate, certify
from noughts.bots.menace.file import load_machine, save_machine
from noughts.bots.menace.machine import BeadRules, Menace
from noughts.bots.menace.training import Training
from noughts.bots.odds import Odds, odds
from noughts.bots.policy_file import load_policy, save_policy
from noughts.bots.program import Program
from noughts.bots.registry import Policy, find_policy, policy_names
from noughts.text.sentences import say_advice, say_prospect, say_reason

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
