-- 0016 schedule words: what schedules are searched by has narrow rows of its own, as their cursors have.
--
-- Fills one table and builds its index. Nobody can read or write a schedule while that takes, so nothing fires and nobody edits: expect a
-- minute for each million schedules. Processes of the version before work on then: the triggers write for them too, but what they look for
-- by words takes them seconds with a million schedules.

-- At once, for the index that goes in the end: whoever asks for more later may wait for somebody who waits for it.
lock table {schema}.schedules in access exclusive mode;

-- Words of name, job, group and description, in small letters. Cut, since neither an index nor a word in it may be of any length.
create function {schema}.words_of(name text, job text, "group" text, description text) returns tsvector
language sql immutable parallel safe
return array_to_tsvector(array_remove(regexp_split_to_array(
  lower((name || ' ' || left(job, 200) || ' ' || coalesce("group", '') || ' ' ||
  coalesce(left(description, 500), '')) collate "default") collate "C", '[\t-\r -/:-@[-`{-~]+'), ''));

-- Derived from schedules, by triggers alone, with the rights of whoever migrates. A search for a word that many have reads the
-- rows of all of them: of these a page holds three times as many. The state is not among them: schedules end by the thousand, and nothing else is written for that.
create table {schema}.schedule_words (
  schedule_id uuid primary key references {schema}.schedules (id) on delete cascade,
  name text collate "C" not null,
  job text not null,
  "group" text,
  source text,
  words tsvector not null
);

create function {schema}.add_schedule_words() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into {schema}.schedule_words (schedule_id, name, job, "group", source, words)
  select id, name, job, "group", source, {schema}.words_of(name, job, "group", description) from added;
  return null;
end
$$;

create function {schema}.change_schedule_words() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update {schema}.schedule_words
  set name = new.name, job = new.job, "group" = new."group", source = new.source,
    words = {schema}.words_of(new.name, new.job, new."group", new.description)
  where schedule_id = new.id;
  return null;
end
$$;

create trigger add_words after insert on {schema}.schedules
referencing new table as added for each statement execute function {schema}.add_schedule_words();

create trigger change_words after update of name, job, "group", source, description on {schema}.schedules
for each row when ((old.name, old.job, old."group", old.source, old.description)
  is distinct from (new.name, new.job, new."group", new.source, new.description))
execute function {schema}.change_schedule_words();

insert into {schema}.schedule_words (schedule_id, name, job, "group", source, words)
select id, name, job, "group", source, {schema}.words_of(name, job, "group", description) from {schema}.schedules;

drop index if exists {schema}.schedules_by_words;
create index schedules_by_words on {schema}.schedule_words using gin (words);

-- How frequent words are decides how they are looked for.
analyze {schema}.schedule_words;
