-- What any language, psql or a trigger can do: ask for a run in its own transaction. Nothing of Escapement is needed but its
-- schema:
--
--     psql "$DATABASE_URL" --single-transaction --file examples/other-languages/enqueue.sql

create schema shop;
create table shop.orders (id integer primary key, customer text not null);

-- By a trigger: whoever writes an order, in whatever language, asks for its invoice.
create function shop.ask_for_invoice() returns trigger language plpgsql as $$
begin
  perform escapement.enqueue('send-invoice', jsonb_build_object('order', new.id), key => 'invoice:' || new.id);
  return new;
end $$;
create trigger ask_for_invoice after insert on shop.orders for each row execute function shop.ask_for_invoice();

insert into shop.orders values (4711, 'acme');

-- By hand, for tomorrow, and before others of its queue.
select escapement.enqueue('send-reminder', '{"order": 4711}', eligible_at => now() + interval '1 day', priority => 5);

-- What is rolled back was never asked for.
savepoint mistake;
insert into shop.orders values (4712, 'blick');
rollback to mistake;

-- The same key is the same run: once more changes nothing.
select escapement.enqueue('send-invoice', '{"order": 4711}', key => 'invoice:4711');
