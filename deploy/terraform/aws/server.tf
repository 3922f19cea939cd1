# What the server may do, statement by statement. Attach the role to the machine or task that it runs on.
data "aws_caller_identity" "current" {}

data "aws_partition" "current" {}

locals {
  account = data.aws_caller_identity.current.account_id
  ec2     = "arn:${data.aws_partition.current.partition}:ec2:${var.region}"
  ssm     = "arn:${data.aws_partition.current.partition}:ssm:${var.region}"
}

data "aws_iam_policy_document" "server" {
  statement {
    sid       = "ReadPools"
    actions   = ["ssm:GetParameter", "ssm:GetParametersByPath"]
    resources = ["${local.ssm}:${local.account}:parameter${var.config_prefix}*"]
  }

  statement {
    sid       = "FindStandardImage"
    actions   = ["ssm:GetParameter"]
    resources = ["${local.ssm}::parameter/aws/service/deeplearning/*"]
  }

  # None of these can be limited to some machines.
  statement {
    sid = "Look"
    actions = [
      "ec2:DescribeImages",
      "ec2:DescribeInstances",
      "ec2:DescribeInstanceTypes",
      "ec2:DescribeInstanceTypeOfferings",
      "ec2:DescribeLaunchTemplateVersions",
    ]
    resources = ["*"]
  }

  # Machines without our mark cannot be started.
  statement {
    sid       = "StartMarkedMachines"
    actions   = ["ec2:RunInstances"]
    resources = ["${local.ec2}:${local.account}:instance/*"]

    condition {
      test     = var.cluster == null ? "StringLike" : "StringEquals"
      variable = "aws:RequestTag/muster:cluster"
      values   = [coalesce(var.cluster, "*")]
    }
  }

  statement {
    sid     = "StartThemFrom"
    actions = ["ec2:RunInstances"]
    resources = [
      "${local.ec2}::image/*",
      "${local.ec2}:${local.account}:launch-template/${aws_launch_template.agents.id}",
      "${local.ec2}:${local.account}:network-interface/*",
      "${local.ec2}:${local.account}:security-group/*",
      "${local.ec2}:${local.account}:spot-instances-request/*",
      "${local.ec2}:${local.account}:subnet/${var.subnet_id}",
      "${local.ec2}:${local.account}:volume/*",
    ]
  }

  # Only while they are started: no mark can be put on what exists.
  statement {
    sid       = "MarkThem"
    actions   = ["ec2:CreateTags"]
    resources = ["${local.ec2}:${local.account}:instance/*"]

    condition {
      test     = "StringEquals"
      variable = "ec2:CreateAction"
      values   = ["RunInstances"]
    }
  }

  statement {
    sid       = "EndMarkedMachines"
    actions   = ["ec2:StartInstances", "ec2:StopInstances", "ec2:TerminateInstances"]
    resources = ["${local.ec2}:${local.account}:instance/*"]

    condition {
      test     = var.cluster == null ? "StringLike" : "StringEquals"
      variable = "aws:ResourceTag/muster:cluster"
      values   = [coalesce(var.cluster, "*")]
    }
  }

  # Whoever may write pool documents can start machines with this profile, and with no other.
  statement {
    sid       = "GiveThemTheirRole"
    actions   = ["iam:PassRole"]
    resources = [aws_iam_role.agents.arn]

    condition {
      test     = "StringEquals"
      variable = "iam:PassedToService"
      values   = ["ec2.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "server" {
  name = "${var.name}-server"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
}

resource "aws_iam_role_policy" "server" {
  name   = "${var.name}-server"
  role   = aws_iam_role.server.name
  policy = data.aws_iam_policy_document.server.json
}

resource "aws_iam_instance_profile" "server" {
  name = "${var.name}-server"
  role = aws_iam_role.server.name
}
