"""`poinsot reproduce`: tables and figures of the papers, regenerated."""
