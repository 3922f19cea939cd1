# What the machines of a pool are. A change makes another template, and Muster replaces idle machines of the older one.
resource "google_compute_instance_template" "pools" {
  for_each = var.pools

  name_prefix  = "${var.name}-${each.key}-"
  region       = var.region
  machine_type = each.value.machine_type

  disk {
    source_image = var.image
    boot         = true
    auto_delete  = true
  }

  network_interface {
    subnetwork = google_compute_subnetwork.agents.id
  }

  scheduling {
    provisioning_model          = each.value.is_spot ? "SPOT" : "STANDARD"
    preemptible                 = each.value.is_spot
    automatic_restart           = !each.value.is_spot
    instance_termination_action = each.value.is_spot ? "STOP" : null
  }

  lifecycle {
    create_before_destroy = true
  }
}

# Muster gives the group its machines by name, so Terraform never sets its size.
resource "google_compute_instance_group_manager" "pools" {
  for_each = var.pools

  name               = "${var.name}-${each.key}"
  zone               = var.zone
  base_instance_name = each.key

  version {
    instance_template = google_compute_instance_template.pools[each.key].self_link
  }

  # Machines are replaced by Muster, when they are idle, and never by the group.
  update_policy {
    type                  = "OPPORTUNISTIC"
    minimal_action        = "REPLACE"
    replacement_method    = "RECREATE"
    max_surge_fixed       = 0
    max_unavailable_fixed = 1
  }

  instance_lifecycle_policy {
    default_action_on_failure = "DO_NOTHING"
  }

  lifecycle {
    ignore_changes = [target_size]
  }
}
