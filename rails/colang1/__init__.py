"""The folder that a Colang 1.0 configuration of NeMo Guardrails imports."""
