"""The place of the Guardrails AI validator, `guardrails_ai.sentence_gate`. This version has no validator: the package is empty."""
