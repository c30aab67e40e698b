"""What NeMo Guardrails runs when a configuration imports this folder."""

from sentence_gate.nemo import install


def init(app: object) -> None:
    """NeMo calls this with the LLMRails instance that it builds."""
    install(app)
