"""The output of a run for people and for other programs: findings, the report, text, tables, graphs."""
