"""LangChain and LangGraph adapter."""
