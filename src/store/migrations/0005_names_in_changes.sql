-- 0005 names in changes: the change log says what a schedule was called, so that a rename can be seen, and a deleted
-- schedule can still be audited by its name.
--
-- Adds a column without rewriting a row, fills it for schedules that exist, and builds one small partial index. Verbs wait
-- for as long as that takes: about a second for each hundred thousand changes.

alter table {schema}.changes add column name text;
update {schema}.changes as c set name = s.name from {schema}.schedules as s where s.id = c.schedule_id;

create index changes_of_deleted on {schema}.changes (schedule_id) where action = 'delete';
