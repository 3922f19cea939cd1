# All that the server makes is in this group, and its role reaches no further.
resource "azurerm_resource_group" "muster" {
  name     = var.name
  location = var.location
}

resource "azurerm_virtual_network" "muster" {
  name                = "${var.name}-network"
  resource_group_name = azurerm_resource_group.muster.name
  location            = azurerm_resource_group.muster.location
  address_space       = [var.address_space]
}

resource "azurerm_subnet" "agents" {
  name                 = "agents"
  resource_group_name  = azurerm_resource_group.muster.name
  virtual_network_name = azurerm_virtual_network.muster.name
  address_prefixes     = [cidrsubnet(var.address_space, 2, 0)]
}

# Nobody speaks to the machines; they speak to the server, and their sessions to the world.
resource "azurerm_network_security_group" "agents" {
  name                = "${var.name}-agents"
  resource_group_name = azurerm_resource_group.muster.name
  location            = azurerm_resource_group.muster.location

  security_rule {
    name                       = "nobody-in"
    priority                   = 4096
    direction                  = "Inbound"
    access                     = "Deny"
    protocol                   = "*"
    source_port_range          = "*"
    destination_port_range     = "*"
    source_address_prefix      = "*"
    destination_address_prefix = "*"
  }
}

resource "azurerm_subnet_network_security_group_association" "agents" {
  subnet_id                 = azurerm_subnet.agents.id
  network_security_group_id = azurerm_network_security_group.agents.id
}

# Machines without public addresses reach the world through this one.
resource "azurerm_public_ip" "agents" {
  name                = "${var.name}-agents-out"
  resource_group_name = azurerm_resource_group.muster.name
  location            = azurerm_resource_group.muster.location
  allocation_method   = "Static"
  sku                 = "Standard"
}

resource "azurerm_nat_gateway" "agents" {
  name                = "${var.name}-agents"
  resource_group_name = azurerm_resource_group.muster.name
  location            = azurerm_resource_group.muster.location
  sku_name            = "Standard"
}

resource "azurerm_nat_gateway_public_ip_association" "agents" {
  nat_gateway_id       = azurerm_nat_gateway.agents.id
  public_ip_address_id = azurerm_public_ip.agents.id
}

resource "azurerm_subnet_nat_gateway_association" "agents" {
  subnet_id      = azurerm_subnet.agents.id
  nat_gateway_id = azurerm_nat_gateway.agents.id
}
