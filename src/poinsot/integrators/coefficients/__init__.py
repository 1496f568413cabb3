"""Coefficients of Runge-Kutta and composition methods: pure data by family, each with its reference."""
