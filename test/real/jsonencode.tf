# No provider is needed for this: only what the encoder makes of odd values.
output "document" {
  value = jsonencode({
    name        = "odd"
    description = "<odd> & \"quoted\" é"
    auto_scaler = {
      backends = [{
        aws_launch_template = { instance_type = "c5.large", region = "us-west-2" }
        price_per_hour      = 0.50
      }]
      max_agents         = 0
      max_price_per_hour = 1.50
    }
  })
}
