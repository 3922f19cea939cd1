resource "google_container_node_pool" "gpu" {
  for_each = var.node_pools

  name               = each.key
  cluster            = var.cluster_name
  location           = var.location
  node_locations     = each.value.zones
  initial_node_count = 0

  node_config {
    machine_type    = each.value.machine_type
    service_account = var.node_service_account
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]

    labels = {
      (local.label) = each.key
    }

    guest_accelerator {
      type  = each.value.accelerator_type
      count = each.value.accelerator_count
    }
  }

  # No autoscaling block: Muster sizes the groups of the pool, and refuses those that GKE sizes as well.
  lifecycle {
    ignore_changes = [initial_node_count, node_count]
  }
}

# The definition must exist when Terraform plans: install Muster first.
resource "kubernetes_manifest" "node_provisioners" {
  for_each = local.node_provisioners

  manifest   = each.value
  depends_on = [google_container_node_pool.gpu]
}
