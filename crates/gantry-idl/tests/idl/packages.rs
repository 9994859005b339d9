//! Tests of folders of packages.

use crate::{name, read_folder};
use gantry_idl::Definitions;

#[test]
fn several_folders_belong_together() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let write = |folder: usize, path: &str, text: &str| {
        let path = folders[folder].path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(0, "my_robot/msg/Arm.msg", "geometry_msgs/Point elbow");
    write(1, "geometry_msgs/msg/Point.msg", "float64 x");
    let paths = folders.each_ref().map(tempfile::TempDir::path);
    let definitions = Definitions::read_packages(&paths).unwrap();
    assert_eq!(definitions.messages().count(), 2);

    write(1, "my_robot/msg/Arm.msg", "");
    let error = Definitions::read_packages(&paths).unwrap_err().to_string();
    assert!(error.contains("`my_robot/msg/Arm` is defined twice"), "{error}");
}

#[test]
fn other_files_are_ignored() {
    let definitions = read_folder(&[
        ("my_robot/msg/A.msg", ""),
        ("my_robot/msg/readme.txt", "no message"),
        ("my_robot/action/Go.action", "no message"),
        ("Not A Package/include/b.h", "no package"),
    ])
    .unwrap();
    assert!(definitions.messages().map(|message| &message.name).eq([&name("my_robot/msg/A")]));
}

#[test]
fn names_of_files_are_names_of_types() {
    let errors = read_folder(&[
        ("my_robot/msg/a.msg", ""),
        ("my_robot/srv/Add_Request.srv", "---"),
        ("My_robot/msg/A.msg", ""),
        ("other/msg/B.msg", "int8"),
    ])
    .unwrap_err()
    .to_string();
    for expected in [
        "a.msg: `a` cannot be a type's name: it must begin with a capital letter",
        "Add_Request.srv: `Add_Request` cannot be a type's name: only letters and digits are allowed",
        "`My_robot` cannot be a package's name: it must begin with a lower-case letter",
        "B.msg:1:1: a field needs a type and a name",
    ] {
        assert!(errors.contains(expected), "{expected} is not in\n{errors}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let errors = Definitions::read_packages(&["/nowhere/at/all"]).unwrap_err().to_string();
    assert!(errors.starts_with("/nowhere/at/all: this folder cannot be read: "), "{errors}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("my_robot/msg")).unwrap();
    std::fs::write(folder.path().join("my_robot/msg/A.msg"), b"int8 x # \xff").unwrap();
    let errors = Definitions::read_packages(&[folder.path()]).unwrap_err().to_string();
    assert!(errors.contains("A.msg: it cannot be read: "), "{errors}");
}

#[test]
fn a_build_script_that_returns_errors_shows_file_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my_robot/msg/Bad.msg");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "int32 good\nflot64 x\n").unwrap();
    let errors = Definitions::read_packages(&[folder.path()]).unwrap_err();
    // Cargo shows the `Debug` form of the errors that `main` returns.
    let shown = format!("Error: {errors:?}");
    assert!(shown.contains(&format!("{}:2:1: unknown type `flot64`", path.display())), "{shown}");
    assert!(shown.contains("\n2 | flot64 x\n  | ^^^^^^"), "{shown}");
}

#[test]
fn messages_of_a_folder_contain_known_ones_and_replace_them() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let point = "geometry_msgs/Point p\n".to_owned() + &"=".repeat(80) + "\nMSG: geometry_msgs/Point\nfloat64 x";
    let (pose, pair) = (name("geometry_msgs/msg/Pose"), name("test_msgs/msg/Pair"));
    let known = Definitions::from_texts([(&pose, &*point), (&pair, "int8 a")]).unwrap();
    assert_eq!(known.messages().count(), 3);

    write("my_robot/msg/Arm.msg", "geometry_msgs/Point elbow\ngeometry_msgs/Pose hand");
    let arm = name("my_robot/msg/Arm");
    assert_eq!(known.with_packages(&[folder.path()]).unwrap().max_size_bytes(&arm), Some(16));
    write("geometry_msgs/msg/Point.msg", "float64 x\nfloat64 y");
    let replaced = known.with_packages(&[folder.path()]).unwrap();
    assert_eq!(replaced.max_size_bytes(&arm), Some(32));
    assert_eq!(replaced.messages().count(), 4);

    write("geometry_msgs/msg/Point.msg", "Pose p");
    let error = known.with_packages(&[folder.path()]).unwrap_err().to_string();
    assert!(error.contains("contains itself"), "{error}");
}
