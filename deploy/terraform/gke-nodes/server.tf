# What the server may do in the project, right by right. Its rights in the cluster come with the chart: nodes.enabled=true.
resource "google_project_iam_custom_role" "nodes" {
  role_id     = "muster_nodes"
  title       = "Muster's node groups"
  description = "Grows and shrinks the instance groups behind node pools, machine by machine."

  permissions = [
    "compute.instanceGroupManagers.get",
    "compute.instanceGroupManagers.list",
    "compute.instanceGroupManagers.update",
    "compute.instanceTemplates.get",
    "compute.instances.get",
    "compute.instances.list",
    "compute.machineTypes.get",
    "compute.zoneOperations.get",
    "container.clusters.get",
  ]
}

data "google_project" "this" {}

# Workload identity: the service account of the pod itself, without an account of Google Cloud beside it.
resource "google_project_iam_member" "nodes" {
  project = var.project_id
  role    = google_project_iam_custom_role.nodes.id
  member = join("", [
    "principal://iam.googleapis.com/projects/${data.google_project.this.number}",
    "/locations/global/workloadIdentityPools/${var.project_id}.svc.id.goog",
    "/subject/ns/${var.server.namespace}/sa/${var.server.service_account}",
  ])
}
