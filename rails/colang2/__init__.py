"""The folder that a Colang 2.x configuration of NeMo Guardrails will import. This version has no NeMo rail: the folder is empty."""
