-- 0012 trace context: who asked for a run, for those who trace.
--
-- Adds one column without rewriting a row. It waits for statements that are under way on runs_asked and holds up others for
-- that long, which is milliseconds unless somebody has a transaction open on it.

alter table {schema}.runs_asked
  -- The W3C trace context of the span that asked for it: traceparent, and after a blank tracestate where there is one.
  -- Null where nobody traces, as of all runs of a timing.
  add column trace_context text;
