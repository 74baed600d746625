"""Many runs, laid side by side: kill matrices, sensitivity to readings, growth with size, who decides."""
