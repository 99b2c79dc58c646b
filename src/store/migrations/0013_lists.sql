-- 0013 lists: schedules are found by their words, and runs are listed newest first, however many there are.
--
-- Builds three indexes. Nothing can be written to schedules and runs while that takes, so nothing fires and nobody edits; reading goes
-- on. Expect fifteen seconds for each million schedules, and two for each million runs.

-- Beginnings of words of name, job, group and description. As store/queries/schedule-search.ts asks for it.
create index schedules_by_words on {schema}.schedules using gin (array_to_tsvector(array_remove(regexp_split_to_array(
  lower((name || ' ' || left(job, 200) || ' ' || coalesce("group", '') || ' ' ||
  coalesce(left(description, 500), '')) collate "default") collate "C", '[\t-\r -/:-@[-`{-~]+'), '')));

-- All runs by plan time, or where there is none by when they were asked for: new ones enter it at its end.
create index runs_by_time on {schema}.runs_asked ((coalesce(plan_time, created_at)), id);

-- The few that wait for another attempt: a run that succeeds at once never enters it.
create index runs_retrying on {schema}.runs_open (id) where state = 'retrying';
