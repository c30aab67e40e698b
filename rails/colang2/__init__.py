"""The folder that a Colang 2.x configuration of NeMo Guardrails imports."""
