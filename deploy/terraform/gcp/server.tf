# Who the server is. Give this account to the machine that it runs on, or by workload identity to its pod.
resource "google_service_account" "server" {
  account_id   = "${var.name}-server"
  display_name = "Muster's server"
}

# What the server may do, right by right.
resource "google_project_iam_custom_role" "server" {
  role_id     = replace("${var.name}_server", "-", "_")
  title       = "Muster's server"
  description = "Makes, lists and deletes the machines of Muster."

  permissions = [
    "compute.instanceGroupManagers.get",
    "compute.instanceGroupManagers.list",
    "compute.instanceGroupManagers.update",
    "compute.instanceTemplates.get",
    "compute.regionOperations.get",
    "compute.regions.list",
    "compute.zoneOperations.get",
    "compute.zones.list",
  ]
}

resource "google_project_iam_member" "machines" {
  project = var.project_id
  role    = google_project_iam_custom_role.server.id
  member  = google_service_account.server.member
}

resource "google_storage_bucket_iam_member" "pools" {
  bucket = google_storage_bucket.pools.name
  role   = "roles/storage.objectViewer"
  member = google_service_account.server.member
}
