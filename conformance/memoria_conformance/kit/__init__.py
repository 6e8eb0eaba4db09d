"""The contract kit: reads the suites, asks a sibling, and says what it saw.

From a test of your own: `await Runner(Target.asgi(app, …)).run()` gives a Report.
"""

from memoria_conformance.kit.report import CaseResult, Exit, Level, Report, Status
from memoria_conformance.kit.runner import Runner, matching
from memoria_conformance.kit.stage import Stage, Unreachable
from memoria_conformance.kit.suite import Case, packaged_cases
from memoria_conformance.kit.target import Target

__all__ = [
    "Case",
    "CaseResult",
    "Exit",
    "Level",
    "Report",
    "Runner",
    "Stage",
    "Status",
    "Target",
    "Unreachable",
    "matching",
    "packaged_cases",
]
