output "server_identity_id" {
  description = "For the machine or the pod that the server runs on."
  value       = azurerm_user_assigned_identity.server.id
}

output "server_client_id" {
  description = "AZURE_CLIENT_ID of the server, where its machine has several identities."
  value       = azurerm_user_assigned_identity.server.client_id
}

output "provisioners" {
  description = "For the server's file."
  value = yamlencode({
    provisioners = [{
      name = "store"
      azure = {
        endpoint        = azurerm_app_configuration.pools.endpoint
        config_prefix   = var.config_prefix
        update_interval = "60s"
      }
    }]
  })
}
