"""What a provider's prompt cache would have had of a conversation, and what that would have cost.

`simulate` plays a transcript under published rules (`rules.json`, each with its source and date) in four layouts side by side. It calls
no provider: what is printed is what the rules say, not what a bill says.
"""

from __future__ import annotations

from memspan.cache.rules import CacheRule, rules
from memspan.cache.simulation import LAYOUTS, Simulated, Simulation, simulate

__all__ = ["LAYOUTS", "CacheRule", "Simulated", "Simulation", "rules", "simulate"]
