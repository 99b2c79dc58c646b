-- 0010 transition log: what was done to rows of your own tables when their time came, and what could not be.
--
-- Creates three empty tables and a trigger function that nothing calls until a declaration asks for it. It locks nothing
-- that exists and takes milliseconds.
--
-- To read the log:
--   select f.table_name, f.field, l.* from {schema}.transition_log as l join {schema}.transition_fields as f on f.id = l.field_id

-- A number for each declared field, so that the log and its index hold four bytes and not two names. No foreign key leads here:
-- it would be checked for each row of a batch, and nothing deletes these.
create table {schema}.transition_fields (
  id integer generated always as identity primary key,
  table_schema text not null,
  table_name text not null,
  field text not null,
  unique (table_schema, table_name, field)
);

-- One row for each change: the audit record, and what keeps a row that a person moved back from being changed again for the
-- same due time. The primary key is its only index.
create table {schema}.transition_log (
  field_id integer not null,
  -- The row's primary key as text; of several columns, as a JSON array of texts. Compared byte by byte.
  key text collate "C" not null,
  -- As the row had it, to the microsecond.
  due_at timestamptz not null,
  applied_at timestamptz(3) not null,
  action text not null check (action in ('set', 'softDelete', 'hardDelete')),
  column_name text,
  from_value text,
  to_value text,
  -- Always null so far: time did it.
  actor text,
  primary key (field_id, key, due_at)
);

-- Rows that could not be changed. They are left alone for as long as they have this due time, nobody has edited them, and the
-- same is declared for them.
create table {schema}.transition_quarantine (
  field_id integer not null,
  key text collate "C" not null,
  due_at timestamptz not null,
  -- The row's xmin: an edit gives it another.
  row_version bigint not null,
  -- What was to be done: as in the log, but for the time that softDelete writes.
  action text not null,
  column_name text,
  to_value text,
  code text,
  message text not null,
  quarantined_at timestamptz(3) not null,
  primary key (field_id, key, due_at)
);

create function {schema}.wake_sweepers() returns trigger language plpgsql as $$
begin
  perform pg_notify({channel}, 'transitions');
  return null;
end
$$;
