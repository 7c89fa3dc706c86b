"""A simulation of a provider's prompt cache: which parts of a conversation it would have held, and at which cost.

`simulate` plays a transcript under published rules (`rules.json`, each with its source and date) in four layouts side by side. It calls
no provider: the printed figures follow from the rules and not from a bill.
"""

from __future__ import annotations

from memspan.cache.rules import CacheRule, rules
from memspan.cache.simulation import LAYOUTS, Simulated, Simulation, simulate

__all__ = ["LAYOUTS", "CacheRule", "Simulated", "Simulation", "rules", "simulate"]
