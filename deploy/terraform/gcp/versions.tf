terraform {
  required_version = ">= 1.5"

  required_providers {
    google = {
      source  = "registry.terraform.io/hashicorp/google"
      version = ">= 6.0, < 8.0"
    }
  }
}

provider "google" {
  project = var.project_id
  region  = var.region
  zone    = var.zone
}
