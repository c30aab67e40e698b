"""The folder that a Colang 1.0 configuration of NeMo Guardrails will import. This version has no NeMo rail: the folder is empty."""
