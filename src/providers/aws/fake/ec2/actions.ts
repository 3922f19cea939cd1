import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';
import { startInstances, stopInstances, terminateInstances } from './change-state.ts';
import { describeInstances } from './describe-instances.ts';
import { createImage, deregisterImage } from './image-building.ts';
import { describeImages } from './images.ts';
import { createKeyPair, deleteKeyPair, describeKeyPairs } from './key-pairs.ts';
import {
  createLaunchTemplate,
  createLaunchTemplateVersion,
  deleteLaunchTemplate,
  describeLaunchTemplates,
  describeLaunchTemplateVersions,
  modifyLaunchTemplate,
} from './launch-templates.ts';
import {
  authorizeSecurityGroupIngress,
  createSecurityGroup,
  deleteSecurityGroup,
  describeRegions,
  describeSecurityGroups,
  describeSubnets,
} from './network.ts';
import { describeNetworkInterfaces } from './network-interfaces.ts';
import { describeInstanceTypeOfferings, describeInstanceTypes } from './offerings.ts';
import { runInstances } from './run-instances.ts';
import { createTags, deleteTags, describeTags } from './tag-actions.ts';

/** What EC2 can be asked here. */
export const EC2_ACTIONS: Readonly<Record<string, (ask: Ask) => Readonly<Record<string, Xml>>>> = {
  RunInstances: runInstances,
  DescribeInstances: describeInstances,
  StartInstances: startInstances,
  StopInstances: stopInstances,
  TerminateInstances: terminateInstances,
  CreateTags: createTags,
  DeleteTags: deleteTags,
  DescribeTags: describeTags,
  CreateLaunchTemplate: createLaunchTemplate,
  CreateLaunchTemplateVersion: createLaunchTemplateVersion,
  ModifyLaunchTemplate: modifyLaunchTemplate,
  DeleteLaunchTemplate: deleteLaunchTemplate,
  DescribeLaunchTemplates: describeLaunchTemplates,
  DescribeLaunchTemplateVersions: describeLaunchTemplateVersions,
  DescribeImages: describeImages,
  CreateImage: createImage,
  DeregisterImage: deregisterImage,
  CreateKeyPair: createKeyPair,
  DescribeKeyPairs: describeKeyPairs,
  DeleteKeyPair: deleteKeyPair,
  CreateSecurityGroup: createSecurityGroup,
  AuthorizeSecurityGroupIngress: authorizeSecurityGroupIngress,
  DeleteSecurityGroup: deleteSecurityGroup,
  DescribeInstanceTypeOfferings: describeInstanceTypeOfferings,
  DescribeInstanceTypes: describeInstanceTypes,
  DescribeSubnets: describeSubnets,
  DescribeSecurityGroups: describeSecurityGroups,
  DescribeNetworkInterfaces: describeNetworkInterfaces,
  DescribeRegions: describeRegions,
};
