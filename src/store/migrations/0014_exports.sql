-- 0014 exports: everything can be moved to another database, and this one refuses to fire from then on.
--
-- Creates one empty table and a function that nothing calls before a move, and adds a column without rewriting a row. It
-- waits for claims that are under way, which takes milliseconds.

-- Where all of this has been: the exports that it came by, and the one by which it was moved away.
create table {schema}.exports (
  id uuid primary key,
  mode text not null check (mode in ('copy', 'move')),
  taken_at timestamptz(3) not null,
  taken_by text,
  -- Null where it was taken from here: then everything was moved away, and nothing can be changed.
  imported_at timestamptz(3)
);

create unique index exports_one_away on {schema}.exports ((imported_at is null)) where imported_at is null;

alter table {schema}.control
  -- While somebody waits for handlers to end before a move. It passes by itself, in case they die meanwhile.
  add column claiming_held_until timestamptz(3);

-- A move puts it before every statement that would change something: see docs/adr/0017-moving.md. Whoever may only enqueue is
-- told as well.
create function {schema}.refuse_changes() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  away {schema}.exports;
begin
  select * into away from {schema}.exports where imported_at is null;
  raise exception using errcode = 'MV001', message = format(
    'Everything here was moved away at %s%s: nothing fires here, and nothing can be changed. Use the copy. '
      'If there is none, import the file (escapement import), export it again (escapement export --move), or take the move '
      'back (escapement export --undo).',
    to_char(away.taken_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), coalesce(' by ' || away.taken_by, ''));
end
$$;
