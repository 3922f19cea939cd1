terraform {
  required_version = ">= 1.5"

  required_providers {
    digitalocean = {
      source  = "registry.terraform.io/digitalocean/digitalocean"
      version = "~> 2.0"
    }
  }
}

# It reads DIGITALOCEAN_TOKEN; the server reads DIGITALOCEAN_API_TOKEN.
provider "digitalocean" {}
