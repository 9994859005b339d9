//! Compares the hashes of the types with the hashes that ROS 2 ships.
//!
//! The expected hashes come from the `.json` files of Jazzy's packages (PyPI: ros-visualization-msgs,
//! ros-trajectory-msgs, ros-stereo-msgs, ros-shape-msgs and ros-actionlib-msgs 5.3.6, ros-action-msgs 2.0.3,
//! ros-unique-identifier-msgs 2.5.0, ros-lifecycle-msgs 2.0.3). The types nested in them are included.

use crate::by_field::{ByField, SERVICES};
use gantry_msgs::gantry_cdr::type_hash;
use std::collections::BTreeMap;

const OFFICIAL: &[(&str, &str)] = &[
    ("action_msgs/msg/GoalInfo", "6398fe763154554353930716b225947f93b672f0fb2e49fdd01bb7a7e37933e9"),
    ("action_msgs/msg/GoalStatus", "32f4cfd717735d17657e1178f24431c1ce996c878c515230f6c5b3476819dbb9"),
    ("action_msgs/msg/GoalStatusArray", "6c1684b00f177d37438febe6e709fc4e2b0d4248dca4854946f9ed8b30cda83e"),
    ("action_msgs/srv/CancelGoal", "573d8b0a534451d7bc2ac8c5ffde8ac14b8593b7001175d0cd6516dcbeb8689a"),
    ("action_msgs/srv/CancelGoal_Request", "3d3c84653c1f96918086887e1dcb236faec88b81a5b14fd4cf4840065bcdf8af"),
    ("action_msgs/srv/CancelGoal_Response", "35e682cf3f510e83c70a82a4aac888496dedee56773bf9d8e5e0aa81f9e1c960"),
    ("actionlib_msgs/msg/GoalID", "140ea4a1bad4781edc32030c7983ab3a62c675f861c61c9b2200ae5e5398be24"),
    ("actionlib_msgs/msg/GoalStatus", "c90c64230954d90ee079cbdd22a14bca3650b3d403f5cc3faf0eee992c6ae9ff"),
    ("actionlib_msgs/msg/GoalStatusArray", "f3230208e8daec53eb7b8da6df1c1d1d4eb095f3082be922661c29a1f855a1bc"),
    ("builtin_interfaces/msg/Duration", "e8d009f659816f758b75334ee1a9ca5b5c0b859843261f14c7f937349599d93b"),
    ("builtin_interfaces/msg/Time", "b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197"),
    ("geometry_msgs/msg/Point", "6963084842a9b04494d6b2941d11444708d892da2f4b09843b9c43f42a7f6881"),
    ("geometry_msgs/msg/Point32", "2fc4db7cae16a4582c79a56b66173a8d48d52c7dc520ddc55a0d4bcf2a4bfdbc"),
    ("geometry_msgs/msg/Polygon", "3782f9f0bf044964d692d6c017d705e37611afb1f0bf6a9dee248a7dda0f784a"),
    ("geometry_msgs/msg/Pose", "d501954e9476cea2996984e812054b68026ae0bfae789d9a10b23daf35cc90fa"),
    ("geometry_msgs/msg/Quaternion", "8a765f66778c8ff7c8ab94afcc590a2ed5325a1d9a076ffff38fbce36f458684"),
    ("geometry_msgs/msg/Transform", "beb83fbe698636351461f6f35d1abb20010c43d55374d81bd041f1ba2581fddc"),
    ("geometry_msgs/msg/Twist", "9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a"),
    ("geometry_msgs/msg/Vector3", "cc12fe83e4c02719f1ce8070bfd14aecd40f75a96696a67a2a1f37f7dbb0765d"),
    ("lifecycle_msgs/msg/State", "dd2d02b82f3ebc858e53c431b1e6e91f3ffc71436fc81d0715214ac6ee2107a0"),
    ("lifecycle_msgs/msg/Transition", "c65d7b31ea134cba4f54fc867b817979be799f7452035cd35fac9b7421fb3424"),
    ("lifecycle_msgs/msg/TransitionDescription", "c5f1cd4bb1ad2ba0e3329d4ac7015c52a674a72c1faf7974c37a33f4f6048b28"),
    ("lifecycle_msgs/msg/TransitionEvent", "d5f8873a2f0146498f812d7885c7327ce27e463d36811d8792f35ee38c0d6c38"),
    ("lifecycle_msgs/srv/ChangeState", "356fe34f0475a43acf54542013af4167b0e729f77ea22ffb045c6ad8e20668e5"),
    ("lifecycle_msgs/srv/ChangeState_Request", "d74c6f524e14cade7b67e7297190360ed749264af300524fc1456f27cc2a553a"),
    ("lifecycle_msgs/srv/ChangeState_Response", "e1ddfed0271fefe63767aa71561926e4d9eac0f1ddf9e71a8873eb46b36deac2"),
    ("lifecycle_msgs/srv/GetAvailableStates", "00a07d79d2207d71e81a8cbc1880e5d924cc16d4688ea8e8e06e443dc8f8aa1d"),
    (
        "lifecycle_msgs/srv/GetAvailableStates_Request",
        "c2c0c12de6023822f284929577d4ca2862e0501150010966e8a90b632e4424de",
    ),
    (
        "lifecycle_msgs/srv/GetAvailableStates_Response",
        "223e0dd5bb8a847ebb9532adaf8b5e2a97e6e68e79faeaabd81a45fb32925bd1",
    ),
    ("lifecycle_msgs/srv/GetAvailableTransitions", "59b7ecefce0982a8a844b9f2c4f14764c1c4543cc55e72924e2aa4adad83e9bc"),
    (
        "lifecycle_msgs/srv/GetAvailableTransitions_Request",
        "52a73c0b5d7489bee0df6ddb0aec45c41289d223ff225b58fe11d859ac8109a6",
    ),
    (
        "lifecycle_msgs/srv/GetAvailableTransitions_Response",
        "4711339461aadf02bcfff797a198de911f885074bd3f2fe9f7b677ef87f0741c",
    ),
    ("lifecycle_msgs/srv/GetState", "800a0a5aae599782b02932de0caf563f6dc4e7e94b794eadde075ba2cbef9795"),
    ("lifecycle_msgs/srv/GetState_Request", "77a9c844e7975f15bc2221e8bbebafc4d118afb78c7f7071eef91f83f940f2f6"),
    ("lifecycle_msgs/srv/GetState_Response", "fe249babab472e42cb5653b5d6a6b0c42a003b0fdfb84851aea3fde08760b4f5"),
    ("sensor_msgs/msg/CompressedImage", "15640771531571185e2efc8a100baf923961a4d15d5569652e6cb6691e8e371a"),
    ("sensor_msgs/msg/Image", "d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47"),
    ("sensor_msgs/msg/RegionOfInterest", "ad16bcba5f9131dcdba6fbded19f726f5440e3c513b4fb586dd3027eeed8abb1"),
    ("service_msgs/msg/ServiceEventInfo", "41bcbbe07a75c9b52bc96bfd5c24d7f0fc0a08c0cb7921b3373c5732345a6f45"),
    ("shape_msgs/msg/Mesh", "f2150b82d8ee7e8bc3f396a2b158aefb4b9a5510a474be271ba1268aebb55289"),
    ("shape_msgs/msg/MeshTriangle", "618e5c073eeb729e433ef6226e72c01d995c459fb7d76348c9700409a5020bd0"),
    ("shape_msgs/msg/Plane", "dfbfe8314689c850615d4a727af017e9aa86c10e369a606c8c851ef8f16c58c8"),
    ("shape_msgs/msg/SolidPrimitive", "2802a15190aadc3f496584df4b0b4c5824d8a0b31aaef839faa75bc34dda38ac"),
    ("std_msgs/msg/ColorRGBA", "77a7a5b9ae477306097665106e0413ba74440245b1f3d0c6d6405fe5c7813fe8"),
    ("std_msgs/msg/Header", "f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01"),
    ("stereo_msgs/msg/DisparityImage", "1ec1ff6b5bace919e4544a37f2d96ead9f81783701b7b7a4d97a09325ecf2711"),
    ("trajectory_msgs/msg/JointTrajectory", "179b33eba59d676f6d967ac71fe35e7ca2f64b2f3928f4a018cec115e213796e"),
    ("trajectory_msgs/msg/JointTrajectoryPoint", "de8907036d8bd45aac6f30cc9044a3d4a329c42cbf719aff7d95a584cfa532d7"),
    ("trajectory_msgs/msg/MultiDOFJointTrajectory", "3a18fd095292a65cfde8833c72985a30af981f3ec44494655c6267262b443a4a"),
    (
        "trajectory_msgs/msg/MultiDOFJointTrajectoryPoint",
        "6ada1085b5ee64eaa069b074968e69f0e27c8c5e6f5bb0586dd1c834ef0e32b8",
    ),
    ("unique_identifier_msgs/msg/UUID", "1b8e8aca958cbea28fe6ef60bf6c19b683c97a9ef60bb34752067d0f2f7ab437"),
    ("visualization_msgs/msg/ImageMarker", "603152491ef2331c200a5305230d31f6e8704875944b388da0f547c415d11836"),
    ("visualization_msgs/msg/InteractiveMarker", "3d5b51448b51d73b0f395b94d259edd3a5d269ae9f7d9fd5cceb9ae4b72be346"),
    (
        "visualization_msgs/msg/InteractiveMarkerControl",
        "60e2fa36344f5f4791b24a809542a18bffd555f563550d4b22b3bbfc31ec0ed5",
    ),
    (
        "visualization_msgs/msg/InteractiveMarkerFeedback",
        "6cc48741df9f05d19ba7d9ea3101e9fcd1309c9d6bda3c55668ba607492f725e",
    ),
    (
        "visualization_msgs/msg/InteractiveMarkerInit",
        "23fda1b3373b154d9d6408dd7b9f8129b2a2b76b905ee421e8c4109d8bf71f78",
    ),
    (
        "visualization_msgs/msg/InteractiveMarkerPose",
        "c60e9a4407d5f709a63e0fe9caea324aee08fe717cd090209ebe35012ce7cb66",
    ),
    (
        "visualization_msgs/msg/InteractiveMarkerUpdate",
        "0a8b000c4fd4d50876ac716a7de018911599a2f015795388e956a2ca8b0c54f0",
    ),
    ("visualization_msgs/msg/Marker", "45b13ccf791f225962bf74e746f9644518855d783a6f42ba0cc14fde2b4f3ce0"),
    ("visualization_msgs/msg/MarkerArray", "86cb8800b6fb05b5eff1abd7a56f62a5641d3ae9a1c29e78e67e704f1d067dcf"),
    ("visualization_msgs/msg/MenuEntry", "22170c387c70fd4236232ec902de8604e72ff027342c7c0f28ad9f68c64c51d6"),
    ("visualization_msgs/msg/MeshFile", "7710ece15a148fb7c9b546364cfb215bb06098087bd6394fe5b73a493508f8c4"),
    ("visualization_msgs/msg/UVCoordinate", "f27f7ed21fe360c6066944f856b801a0c0d1e94e815b6886444b42d90b196a26"),
    (
        "visualization_msgs/srv/GetInteractiveMarkers",
        "bfdfaa861f4a8422b4ec3bd02c6681e4a45a83bdc2913d8facdf923d8ad1376a",
    ),
    (
        "visualization_msgs/srv/GetInteractiveMarkers_Request",
        "7fa7e0830e3cbe9c15927a29fdc09fedcd9a86757e375f29ce6b0744cb0b6905",
    ),
    (
        "visualization_msgs/srv/GetInteractiveMarkers_Response",
        "414620cf7471b5469b159989af34edd1ed9276be592e43d1b7544204f4177302",
    ),
];

#[test]
fn hashes_are_those_of_ros_2() {
    let mut hashes: BTreeMap<&str, [u8; 32]> = SERVICES.iter().map(|service| (service.name, service.hash)).collect();
    fn hash_of<T: ByField>(hashes: &mut BTreeMap<&str, [u8; 32]>) {
        hashes.entry(T::TYPE_NAME).or_insert(T::TYPE_HASH);
    }
    macro_rules! add {
        ($message:path) => {
            hash_of::<$message>(&mut hashes);
        };
    }
    gantry_msgs::for_each_message!(add);
    for (name, digits) in OFFICIAL {
        assert_eq!(hashes.get(name), Some(&type_hash(&format!("RIHS01_{digits}"))), "{name}");
    }
}
