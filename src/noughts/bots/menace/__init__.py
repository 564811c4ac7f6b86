"""MENACE, a machine of matchboxes that learns."""
