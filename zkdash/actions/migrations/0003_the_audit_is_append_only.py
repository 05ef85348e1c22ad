"""Triggers that refuse to change, delete or replace rows of the audit.

Who owns the tables can drop them again: what was done then shows in the chain of hashes (actions.audit).
A migration that makes the table anew on SQLite loses its triggers and must make them again.
"""

from typing import Any

from django.db import migrations

CREATE = {
    "sqlite": (
        (
            "CREATE TRIGGER actions_audit_no_update BEFORE UPDATE ON actions_audit "
            "BEGIN SELECT RAISE(ABORT, 'the audit is append-only: UPDATE is refused'); END"
        ),
        (
            "CREATE TRIGGER actions_audit_no_delete BEFORE DELETE ON actions_audit "
            "BEGIN SELECT RAISE(ABORT, 'the audit is append-only: DELETE is refused'); END"
        ),
        # INSERT OR REPLACE deletes without firing the trigger above.
        (
            "CREATE TRIGGER actions_audit_no_replace BEFORE INSERT ON actions_audit "
            "WHEN EXISTS (SELECT 1 FROM actions_audit WHERE id = NEW.id) "
            "BEGIN SELECT RAISE(ABORT, 'the audit is append-only: REPLACE is refused'); END"
        ),
    ),
    "postgresql": (
        (
            "CREATE FUNCTION actions_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ "
            "BEGIN RAISE EXCEPTION 'the audit is append-only: % is refused', TG_OP; END $$"
        ),
        (
            "CREATE TRIGGER actions_audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON actions_audit "
            "FOR EACH STATEMENT EXECUTE FUNCTION actions_audit_refuse()"
        ),
        # Also in sessions that replicate (session_replication_role), which fire no others.
        "ALTER TABLE actions_audit ENABLE ALWAYS TRIGGER actions_audit_append_only",
    ),
}
DROP = {
    "sqlite": (
        "DROP TRIGGER actions_audit_no_update",
        "DROP TRIGGER actions_audit_no_delete",
        "DROP TRIGGER actions_audit_no_replace",
    ),
    "postgresql": (
        "DROP TRIGGER actions_audit_append_only ON actions_audit",
        "DROP FUNCTION actions_audit_refuse()",
    ),
}


def create(_apps: Any, schema_editor: Any) -> None:
    for statement in CREATE[schema_editor.connection.vendor]:
        schema_editor.execute(statement, params=None)


def drop(_apps: Any, schema_editor: Any) -> None:
    for statement in DROP[schema_editor.connection.vendor]:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("actions", "0002_one_order_of_changes")]

    operations = [migrations.RunPython(create, drop)]
