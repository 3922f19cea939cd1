terraform {
  required_version = ">= 1.5"

  required_providers {
    google = {
      source  = "registry.terraform.io/hashicorp/google"
      version = ">= 6.40, < 8.0"
    }
    kubernetes = {
      source  = "registry.terraform.io/hashicorp/kubernetes"
      version = ">= 2.35, < 4.0"
    }
  }
}

provider "google" {
  project = var.project_id
}

provider "kubernetes" {
  config_path    = var.kubeconfig
  config_context = var.kubeconfig_context
}
