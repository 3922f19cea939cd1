output "server_account" {
  description = "For the machine or the pod that the server runs on."
  value       = google_service_account.server.email
}

output "provisioners" {
  description = "For the server's file."
  value = yamlencode({
    provisioners = [{
      name = "bucket"
      gcs = {
        bucket          = google_storage_bucket.pools.name
        config_prefix   = var.config_prefix
        update_interval = "120s"
      }
    }]
  })
}
