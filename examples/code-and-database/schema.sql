CREATE TYPE order_state AS ENUM ('open', 'new', 'sent');
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE orders (
  id int PRIMARY KEY,
  customer int NOT NULL REFERENCES customers DEFERRABLE INITIALLY DEFERRED,
  state order_state NOT NULL,
  total numeric(10, 2) NOT NULL,
  total_cents bigint GENERATED ALWAYS AS ((total * 100)::bigint) STORED
);
INSERT INTO customers VALUES (1, 'Ada'), (2, 'Grace');
INSERT INTO orders VALUES (1, 1, 'open', 9.50), (2, 2, 'sent', 20), (3, 2, 'open', 0.99);
