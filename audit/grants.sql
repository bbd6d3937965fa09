-- What the application may do where it does not own its tables: run by their owner, after each `manage.py migrate`.
-- The tables are where the owner's search_path leads first, which is public unless you changed that.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'firekind_app') THEN CREATE ROLE firekind_app LOGIN; END IF;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO firekind_app', current_database());
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO firekind_app', current_schema());
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO firekind_app', current_schema());
    EXECUTE format('GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA %I TO firekind_app', current_schema());
END $$;
-- Functions that it calls: where the server lets everyone call any, this adds nothing.
DO $$ DECLARE called regprocedure; BEGIN
    FOR called IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
                   AND pg_has_role(proowner, 'USAGE') AND prorettype <> 'trigger'::regtype LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO firekind_app', called);
    END LOOP;
END $$;
-- What is append-only, told by its trigger, is added to and read, never changed.
DO $$ DECLARE kept regclass; BEGIN
    FOR kept IN SELECT tgrelid::regclass FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
                 WHERE tgname = relname || '_rows_kept' LOOP
        EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %s FROM firekind_app', kept);
    END LOOP;
    -- But for the words of an entry, where they can be taken out: the trigger says when, this says what.
    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('incidents_event') AND attname = 'redacted') THEN
        GRANT UPDATE (text, data, link, salt, redacted) ON incidents_event TO firekind_app;
    END IF;
    IF to_regclass('django_migrations') IS NOT NULL THEN
        REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM firekind_app;
    END IF;
END $$;
