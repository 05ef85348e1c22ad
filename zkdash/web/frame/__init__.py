"""What every page is made of: what a page is, tables, cells, links, what stands above them."""
