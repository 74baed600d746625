"""Certificates of theorems: found here by search, believed by `evenhand_certificates` alone."""
