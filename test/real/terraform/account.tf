# What the pools refer to, in an account that moto plays; AWS_ENDPOINT_URL says where.
terraform {
  required_providers {
    aws = {
      source  = "registry.terraform.io/hashicorp/aws"
      version = ">= 5.0, < 7.0"
    }
  }
}

provider "aws" {
  region                      = "us-west-2"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  skip_region_validation      = true
}

data "aws_ami" "velda_agent" {
  owners      = ["self"]
  most_recent = true

  filter {
    name   = "name"
    values = ["velda-agent-*"]
  }
}

resource "aws_vpc" "main" {
  cidr_block = "10.7.0.0/16"
}

resource "aws_subnet" "private" {
  vpc_id     = aws_vpc.main.id
  cidr_block = "10.7.1.0/24"
}

resource "aws_security_group" "velda_agent" {
  name   = "velda-agent"
  vpc_id = aws_vpc.main.id
}
