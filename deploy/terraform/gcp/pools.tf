resource "google_storage_bucket" "pools" {
  name                        = var.bucket_name
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"

  versioning {
    enabled = true
  }
}

# Each object is a pool. Take one away, and its pool is drained and removed.
resource "google_storage_bucket_object" "pools" {
  for_each = var.pools

  bucket       = google_storage_bucket.pools.name
  name         = "${var.config_prefix}${each.key}.json"
  content_type = "application/json"
  content = jsonencode({
    name        = each.key
    description = coalesce(each.value.description, each.value.machine_type)
    auto_scaler = {
      backend = {
        gce_instance_group = {
          project        = var.project_id
          zone           = var.zone
          instance_group = google_compute_instance_group_manager.pools[each.key].name
        }
      }
      max_agents      = each.value.max_agents
      min_idle_agents = each.value.min_idle_agents
      max_idle_agents = each.value.max_idle_agents
      idle_decay      = each.value.idle_decay
    }
  })
}
