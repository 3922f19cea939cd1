# Who the server is. Assign the identity to the machine or the pod that it runs on.
resource "azurerm_user_assigned_identity" "server" {
  name                = "${var.name}-server"
  resource_group_name = azurerm_resource_group.muster.name
  location            = azurerm_resource_group.muster.location
}

# What the server may do, action by action, in this resource group alone.
resource "azurerm_role_definition" "server" {
  name        = "${var.name}-server"
  scope       = azurerm_resource_group.muster.id
  description = "Makes, lists and deletes the machines of Muster."

  permissions {
    actions = [
      "Microsoft.Compute/virtualMachines/read",
      "Microsoft.Compute/virtualMachines/write",
      "Microsoft.Compute/virtualMachines/delete",
      "Microsoft.Compute/virtualMachines/instanceView/read",
      "Microsoft.Compute/locations/operations/read",
      "Microsoft.Compute/disks/read",
      "Microsoft.Compute/disks/write",
      "Microsoft.Compute/disks/delete",
      "Microsoft.Compute/virtualMachineScaleSets/read",
      "Microsoft.Compute/virtualMachineScaleSets/write",
      "Microsoft.Insights/autoscaleSettings/read",
      "Microsoft.Network/locations/operations/read",
      "Microsoft.Network/networkInterfaces/read",
      "Microsoft.Network/networkInterfaces/write",
      "Microsoft.Network/networkInterfaces/delete",
      "Microsoft.Network/networkInterfaces/join/action",
      "Microsoft.Network/publicIPAddresses/read",
      "Microsoft.Network/publicIPAddresses/write",
      "Microsoft.Network/publicIPAddresses/delete",
      "Microsoft.Network/publicIPAddresses/join/action",
      "Microsoft.Network/networkSecurityGroups/join/action",
      "Microsoft.Network/virtualNetworks/subnets/join/action",
    ]
  }

  assignable_scopes = [azurerm_resource_group.muster.id]
}

resource "azurerm_role_assignment" "machines" {
  scope              = azurerm_resource_group.muster.id
  role_definition_id = azurerm_role_definition.server.role_definition_resource_id
  principal_id       = azurerm_user_assigned_identity.server.principal_id
}

resource "azurerm_role_assignment" "pools" {
  scope                = azurerm_app_configuration.pools.id
  role_definition_name = "App Configuration Data Reader"
  principal_id         = azurerm_user_assigned_identity.server.principal_id
}
