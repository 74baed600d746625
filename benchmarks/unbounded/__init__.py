"""Systems of the literature, proved for any number of agents from their Python source."""
