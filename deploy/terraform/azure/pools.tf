data "azurerm_client_config" "current" {}

resource "azurerm_app_configuration" "pools" {
  name                = var.store_name
  resource_group_name = azurerm_resource_group.muster.name
  location            = azurerm_resource_group.muster.location
  sku                 = "standard"
  local_auth_enabled  = false
}

# Whoever applies this writes the documents.
resource "azurerm_role_assignment" "writer" {
  scope                = azurerm_app_configuration.pools.id
  role_definition_name = "App Configuration Data Owner"
  principal_id         = data.azurerm_client_config.current.object_id
}

# Each key-value is a pool. Take one away, and its pool is drained and removed.
resource "azurerm_app_configuration_key" "pools" {
  for_each = var.pools

  configuration_store_id = azurerm_app_configuration.pools.id
  key                    = "${var.config_prefix}${each.key}"
  content_type           = "application/json"
  value = jsonencode({
    name        = each.key
    description = coalesce(each.value.description, each.value.vm_size)
    auto_scaler = {
      backend = {
        azure_vm = {
          subscription_id = var.subscription_id
          resource_group  = azurerm_resource_group.muster.name
          location        = azurerm_resource_group.muster.location
          vm_size         = each.value.vm_size
          subnet_id       = azurerm_subnet.agents.id
          market          = each.value.market
        }
      }
      max_agents      = each.value.max_agents
      min_idle_agents = each.value.min_idle_agents
      max_idle_agents = each.value.max_idle_agents
      idle_decay      = each.value.idle_decay
    }
  })

  depends_on = [azurerm_role_assignment.writer]
}
