//! Tests of the shapes of existing messages. The shape of an owned message or of a view has the texts and lengths of
//! the message.

use gantry_cdr::{AlignedBytes, Kind, Message, View};
use gantry_msgs::{
    sensor_msgs::msg::{Image, ImageShape, PointCloud2, PointCloud2Shape, PointFieldShape},
    std_msgs::msg::HeaderShape,
};

const FIELDS: [PointFieldShape<'_>; 2] = [PointFieldShape { name: "x" }, PointFieldShape { name: "intensity" }];

#[test]
fn parts_of_a_view_have_the_shape_that_they_were_built_with() {
    let shape = PointCloud2Shape { header: HeaderShape { frame_id: "lidar" }, fields: &FIELDS, data: 24 };
    let memory = AlignedBytes::zeroed(PointCloud2::shape_bytes(shape).unwrap());
    let cloud = PointCloud2::build(memory, shape).unwrap();
    let fields: Vec<_> = cloud.fields().map(PointFieldShape::from).collect();
    assert_eq!(fields, FIELDS);
    assert_eq!(HeaderShape::from(cloud.header()), shape.header);
    let again = PointCloud2Shape { header: shape.header, fields: cloud.fields().map(PointFieldShape::from), data: 24 };
    let copy = PointCloud2::build(AlignedBytes::zeroed(cloud.memory().as_ref().len()), again).unwrap();
    assert!(copy.memory().as_ref() == cloud.memory().as_ref());
}

#[test]
fn an_owned_message_and_its_view_have_the_same_shape() {
    let mut image = Image { encoding: "rgb8".into(), data: vec![1; 12], ..Image::default() };
    image.header.frame_id = "camera".into();
    let mut memory = AlignedBytes::zeroed(image.body_bytes().unwrap());
    image.write_body(memory.as_mut()).unwrap();
    let (_, layout) = View::into_parts(Image::view(memory.as_ref()).unwrap());
    let shape = ImageShape::from(<Image as Kind>::get(memory.as_ref(), layout));
    assert_eq!(shape, (&image).into());
    assert_eq!((shape.header.frame_id, shape.encoding, shape.data), ("camera", "rgb8", 12));
}
