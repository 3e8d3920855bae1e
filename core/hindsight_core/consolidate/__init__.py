from hindsight_core.consolidate.decide import Decision, Verdict, decide
from hindsight_core.consolidate.statement import Statement, read_statement
