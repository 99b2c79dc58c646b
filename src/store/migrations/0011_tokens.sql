-- 0011 tokens: who may use the HTTP API.
--
-- Creates one empty table; takes no time, and locks nothing that is in use.

create table {schema}.tokens (
  id uuid primary key,
  name text not null,
  -- SHA-256 of the secret part, in hex. The secret is 256 random bits, so a fast hash is as good as a slow one.
  hash text not null,
  role text not null check (role in ('viewer', 'operator', 'admin')),
  -- Of one that is limited to the schedules of a group.
  "group" text,
  -- Of a browser's session: the token that it was opened with, whose end is its own.
  parent_id uuid references {schema}.tokens (id) on delete cascade,
  created_at timestamptz(3) not null,
  created_by text,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  revoked_by text,
  -- To the minute.
  last_used_at timestamptz(3)
);

create index tokens_in_order on {schema}.tokens (created_at desc, id desc) where parent_id is null;
create index tokens_of_sessions on {schema}.tokens (parent_id) where parent_id is not null;
